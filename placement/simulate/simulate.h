// Predicts when every command of a plan runs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_
#define PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

struct SimulatedCommand {
  double start = 0;  // seconds since the step began
  double end = 0;
  // The command whose end determined the end of this one; invalid: none. It is
  // the previous command of the stream, the record of a wait, the kernel that
  // occupied the device, the send of a recv, the recv that freed a slot for a
  // send, or the command before the recv that a send without slots waited for.
  CommandId cause;
};

struct Simulation {
  IdVector<CommandId, SimulatedCommand> commands;  // of the first step
  // Of the first step, until its caller goes on; and between the ends of two
  // overlapping steps.
  double latency_seconds = 0;
  double step_seconds = 0;
  std::vector<double> busy;  // by plan device: kernel seconds per step
  // Each command is the cause of the next.
  std::vector<CommandId> critical_path;
};

// Simulates steps of an entry. The rules:
//  1. The commands of a stream run in sequence, in launch order.
//  2. A wait ends when its event has been recorded in its step.
//  3. A device runs one kernel at a time, in the order in which kernels become
//     ready; ties in launch order.
//  4. A transfer takes the latency of its link, then bytes / bandwidth.
//     Concurrent transfers over one link, or over links of one bus, share it:
//     each of n runs at 1/n of the speed of its link. Opposite directions of a
//     duplex link do not share.
//  5. Copies run beside kernels. If the machine names the cores of its host,
//     commands of CPUs that ask for more cores than it has all slow down alike
//     (placement/cost/host_cores.h).
//  6. A message is a transfer. It begins when its send is ready and there is
//     room: with capacity 0, when its recv is ready too; with capacity c, when
//     the recv of the message c before it has ended. The send ends with the
//     transfer, the recv not before. Both start with the transfer; a recv that
//     is ready later starts then.
//  7. Step t starts when step t - depth has ended, and runs beside the steps in
//     between. Streams of devices that do not overlap steps
//     (DeviceKindTraits::overlaps_steps) also wait until all such streams have
//     ended step t - 1. A stream that copies from or to the memory of such a
//     device is one of them.
//  8. A collective starts on all ranks when the last rank is ready, and takes
//     the same time on all of them.
//  9. A stream of such a CPU that waited goes on after the host's wake-up.
//  10. With depth 1, a step's caller runs the first stream, if that is such a
//     CPU's. Other streams of CPUs wake up when the step begins, and the caller
//     when one of them ends it.
// `node_seconds` is by node id of the placed graph of the entry
// (PlacedNodeSeconds, or the notes of a plan). InvalidArgument for unknown
// entries or ids, and for a command that takes more than 1e100 seconds alone,
// or no number of them. FailedPrecondition if the plan deadlocks or the machine
// lacks a link.
absl::StatusOr<Simulation> Simulate(const Plan& plan, int entry,
                                    const Machine& machine,
                                    absl::Span<const double> node_seconds);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_SIMULATE_H_
