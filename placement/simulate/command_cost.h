// How long each command of a plan takes, and what it takes it on.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_
#define PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/kernel_catalog.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// By node id of a placed graph, on the first of its devices (of a node that is
// cut: of the member that is slowest with its part): what the catalog says of
// the kernel that the node is bound to (or of its best, if it is bound to
// none), else the roofline. Zero for constants, variables and copies.
std::vector<double> PlacedNodeSeconds(const Graph& graph,
                                      const Machine& machine,
                                      const KernelCatalog& catalog);

// What a command occupies while it runs.
struct CommandCost {
  enum class On : uint8_t {
    kNothing,  // record, wait, recv: no time
    kCompute,  // one kernel at a time on `device`
    kDevice,   // a copy within the device's memory, beside its kernels
    kLink,     // `link`, shared with other transfers
    kMeeting,  // a part of a collective, from when all parts have come
  };
  On on = On::kNothing;
  int device = 0;      // index into Plan::devices
  double seconds = 0;  // fixed part: all of it, or the link's latency
  const Link* link = nullptr;
  bool forward = true;  // along the link, from `from` to `to`
  double bytes = 0;     // kLink: what follows the latency
};

// A kernel takes its node's seconds, which are those of one member. A copy
// takes the link of its two devices; a feed or fetch of a device that is no CPU
// the link to the first CPU, if there is one. A send carries its message as a
// copy to the receiver's device would; a recv takes no time but what it waits.
// Every part of a collective takes as long as the whole. FailedPrecondition for
// a copy, message or collective between devices without a link.
absl::StatusOr<std::vector<CommandCost>> CostCommands(
    const Plan& plan, const Entry& entry, absl::Span<const Command> commands,
    const Machine& machine, absl::Span<const double> node_seconds);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_COMMAND_COST_H_
