// The machine's devices and links, and what the links carry in a step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_LINK_LOADS_H_
#define PARTITA_TOOLS_VIEWER_LINK_LOADS_H_

#include "absl/status/status.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// Fills `machine`, `machine_devices` and `links`. `view` has its devices.
void ReadTopology(const Machine& machine, PlanView& view);

// Fills the links of the entry's commands, and `link_loads`. A feed or fetch of
// a GPU occupies the link to its host. A collective is on the links over which
// its ranks send (collective_sends.h), for as long as the rank takes; its
// commands have no link of their own. Errors as CostCommands.
absl::Status ReadLinkLoads(const Plan& plan, int entry,
                           IdSpan<CommandId, Command> commands,
                           const ViewedMachine& machine, ViewedEntry& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_LINK_LOADS_H_
