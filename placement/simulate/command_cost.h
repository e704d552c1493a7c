// The cost of each command of a plan, and the resource that it occupies.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_
#define PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// By node id of a placed graph: seconds of the slowest rank, as the catalog
// states them for the kernel that the node is bound to (for the fastest kernel
// if it is not bound, or if this catalog does not have the kernel). 0 for
// constants, variables and copies. Errors: a device that the machine does not
// have, a node without a kernel there.
absl::StatusOr<std::vector<double>> PlacedNodeSeconds(
    const Graph& graph, const Machine& machine, const KernelCatalog& catalog);

// The resource that a command occupies, and for how long.
struct CommandCost {
  enum class On : uint8_t {
    kNothing,     // record, wait, recv: no time
    kCompute,     // one kernel at a time on `device`
    kDevice,      // a copy within the memory of the device, beside its kernels
    kLink,        // `link`, shared with other transfers
    kCollective,  // a rank of a collective, once all ranks have arrived
  };
  On on = On::kNothing;
  DeviceId device;
  double seconds = 0;  // all of it; kLink: the latency of the link
  const Link* link = nullptr;
  bool forward = true;  // along the link, from `from` to `to`
  double bytes = 0;     // kLink: transferred after the latency
  int cores = 0;        // of the host that it keeps busy (HostCores)
};

// A kernel takes the seconds of its node, which are those of one rank. A copy
// takes the link between its devices. A feed or fetch of a device that is not a
// CPU takes the link to the first linked CPU, if the machine has a CPU. A send
// takes the same as a copy to the device of its receiver. A recv takes no time
// itself. Each rank of a collective takes the time of the whole collective.
// InvalidArgument for unknown ids. FailedPrecondition for a copy, message or
// collective between devices without a link.
absl::StatusOr<IdVector<CommandId, CommandCost>> CostCommands(
    const Plan& plan, const Entry& entry, IdSpan<CommandId, Command> commands,
    const Machine& machine, absl::Span<const double> node_seconds);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_
