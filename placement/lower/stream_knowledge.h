// What all streams know to have ended at a point of the launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
#define PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_

#include <map>

#include "placement/lower/device_clocks.h"
#include "placement/lower/live_ranges.h"

namespace partita {

// Knowledge of a stream never decreases. An interval that all streams know to
// have ended therefore conflicts with no interval that is first accessed later.
class StreamKnowledge {
 public:
  // Covers the streams that access these live ranges. `clocks` must outlive it.
  StreamKnowledge(const IdVector<PackIntervalId, LiveRange>& live_ranges,
                  const DeviceClocks& clocks);

  // Advances to `task` in launch order.
  void Advance(TaskId task);
  bool AllKnow(const LiveRange& live_range) const;

 private:
  const DeviceClocks& clocks_;
  std::map<DeviceStreamId, TaskId> latest_;  // invalid: no task so far
  TaskId next_task_{0};
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
