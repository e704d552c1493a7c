// When each event was recorded, and which streams wait for it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_EVENT_BOARD_H_
#define PARTITA_PLACEMENT_SIMULATE_EVENT_BOARD_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "graph/id_vector.h"
#include "runtime/plan/plan.h"

namespace partita {

class EventBoard {
 public:
  EventBoard(int events, int steps)
      : recorded_(static_cast<size_t>(steps) * events, -1),
        recorder_(events),
        waiters_(events) {}

  // Seconds since the first step began; negative: not yet.
  double RecordedAt(int step, EventId event) const {
    return recorded_[IndexOf(step, event)];
  }
  // Of the first step.
  CommandId recorder(EventId event) const { return recorder_[event]; }

  void Record(int step, EventId event, CommandId recorder, double now) {
    recorded_[IndexOf(step, event)] = now;
    if (step == 0) recorder_[event] = recorder;
  }
  void Await(EventId event, StreamId stream) {
    waiters_[event].push_back(stream);
  }
  // Streams that wait for the event, in any step, some more than once: each
  // looks at its own step. They wait no longer.
  std::vector<StreamId> TakeWaiters(EventId event) {
    return std::exchange(waiters_[event], {});
  }

 private:
  size_t IndexOf(int step, EventId event) const {
    return static_cast<size_t>(step) * recorder_.size() + event.index;
  }

  std::vector<double> recorded_;  // step * events + event
  IdVector<EventId, CommandId> recorder_;
  IdVector<EventId, std::vector<StreamId>> waiters_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_EVENT_BOARD_H_
