// Predicts when every command of a plan runs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_
#define PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

struct SimulatedCommand {
  double start = 0;  // seconds since the step began
  double end = 0;
  // The command whose end let this one end no sooner: the one before it in its
  // stream, the record that a wait waited for, the kernel that held the device,
  // the send of a recv's message, the recv that made room for a send, or what
  // stood before the recv that a send met. -1: none.
  int cause = -1;
};

struct Simulation {
  std::vector<SimulatedCommand> commands;  // first step, by expanded index
  double latency_seconds = 0;              // of the first step
  double step_seconds = 0;         // between two steps' ends, once they overlap
  std::vector<double> busy;        // by plan device: kernel seconds of a step
  std::vector<int> critical_path;  // command indices; each the next one's cause
};

// The rules:
//  1. The commands of a stream run one after another, in launch order.
//  2. A wait ends when its event has been recorded in its step.
//  3. A device runs one kernel at a time, in the order in which they come up;
//     of equal times the earlier in launch order.
//  4. A transfer takes its link's latency, then bytes over bandwidth. Transfers
//     at the same time over one link, or over links of one bus, share: each of
//     n runs at 1/n of its link's speed. Opposite directions of duplex links
//     (the machine file's from and to) do not share.
//  5. Copies run beside kernels.
//  6. A message is a transfer that begins when its send has come up and there
//     is room: with capacity 0 when its recv has come up too, with capacity c
//     when the recv of the message c before it has ended. The send ends with
//     the transfer, and the recv no sooner. Both start when the bytes do, a
//     recv that comes up later then.
//  7. Step t starts when step t - depth has ended, and then runs beside the
//     steps in between.
// `node_seconds` is by node id of the entry's placed graph (PlacedNodeSeconds,
// or a plan's notes). InvalidArgument for an entry or ids that do not exist;
// FailedPrecondition if the plan waits for ever.
absl::StatusOr<Simulation> Simulate(const Plan& plan, int entry,
                                    const Machine& machine,
                                    absl::Span<const double> node_seconds);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_
