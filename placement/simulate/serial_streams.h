// Streams whose steps run in sequence.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_SERIAL_STREAMS_H_
#define PARTITA_PLACEMENT_SIMULATE_SERIAL_STREAMS_H_

#include <vector>

#include "graph/id_vector.h"
#include "runtime/plan/plan.h"

namespace partita {

// They begin a step when all of them have ended the step before: the streams of
// devices that do not overlap steps (DeviceKindTraits::overlaps_steps), and
// those that copy from or to the memory of such a device.
class SerialStreams {
 public:
  // `steps` are simulated. The commands have known ids.
  SerialStreams(const Plan& plan, const Entry& entry,
                IdSpan<CommandId, Command> commands, int steps);

  // False if the stream has to wait for the end of an earlier step.
  bool MayStart(StreamId stream, int step) const {
    return !is_serial_[stream] || step == 0 || left_[step - 1] == 0;
  }
  // A command of the stream has ended. True if it was the last one of the step
  // in all of these streams.
  bool End(StreamId stream, int step) {
    return is_serial_[stream] && --left_[step] == 0;
  }

 private:
  IdVector<StreamId, bool> is_serial_;
  std::vector<int> left_;  // by step: commands that have not ended
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_SERIAL_STREAMS_H_
