// What a wait costs the thread of a stream.
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

 private:
  const HostCores cores_;
  IdVector<StreamId, const DeviceTraits*> devices_;  // null: no commands
  int threads_ = 0;                                  // of all streams
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_STREAM_WAKES_H_
