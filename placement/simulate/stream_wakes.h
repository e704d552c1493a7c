// What a wait costs the thread of a stream, or of the caller.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_STREAM_WAKES_H_
#define PARTITA_PLACEMENT_SIMULATE_STREAM_WAKES_H_

#include "graph/id_vector.h"
#include "placement/cost/host_cores.h"
#include "placement/simulate/command_cost.h"
#include "runtime/plan/plan.h"

namespace partita {

class StreamWakes {
 public:
  // The plan must outlive it, and its commands have known ids.
  StreamWakes(const Plan& plan, const Entry& entry,
              IdSpan<CommandId, Command> commands,
              const IdVector<CommandId, CommandCost>& costs,
              const HostCores& cores);

  // Seconds until the stream goes on after a wait of `waited` seconds.
  double SecondsAfter(StreamId stream, double waited) const;

  // Steps that do not overlap follow one another at once. The caller's thread
  // runs the first stream, if that is a CPU's (EntryRunner::MayRunOnCaller);
  // 0 for it. The threads of the others wait for the step.
  double SecondsToBegin(StreamId stream) const;
  // Seconds from the end of a step until the caller goes on, whose own stream
  // had ended `waited` seconds before.
  double SecondsToReturn(double waited) const;
  StreamId caller() const { return caller_; }  // its stream; invalid: none

 private:
  const HostCores cores_;
  IdVector<StreamId, const DeviceTraits*> devices_;  // null: no commands
  int threads_ = 0;                                  // of all streams
  bool overlaps_steps_;
  StreamId caller_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_STREAM_WAKES_H_
