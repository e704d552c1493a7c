// Calls planners by name.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/plan_sample.h"

#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {

absl::StatusOr<PlacementTable> PlanBy(absl::string_view strategy,
                                      const SampleGraph& g,
                                      const Machine& machine,
                                      const PlannerOptions& options,
                                      const SampleCatalog& catalog) {
  Objective objective;
  for (const MachineDevice& device : machine.devices) {
    objective.memory_limits.push_back(device.usable());
  }
  for (const Planner& planner : Planners()) {
    if (planner.name != strategy) continue;
    PARTITA_ASSIGN_OR_RETURN(
        PlacementTable table,
        planner.Place(g.graph(), machine, catalog, objective, options));
    if (!table.shortage.ok()) return table.shortage;
    return table;
  }
  return absl::NotFoundError(strategy);
}

absl::StatusOr<PlacementTable> PlanPinned(absl::string_view strategy,
                                          SampleGraph& g,
                                          const Machine& machine,
                                          const std::vector<Pin>& pins,
                                          const SampleCatalog& catalog) {
  for (const OpView& node : g.graph().ops()) {
    g.graph().node(node.id()).placement = {};
  }
  PARTITA_RETURN_IF_ERROR(WritePins(g.module(), machine, pins).status());
  return PlanBy(strategy, g, machine, {}, catalog);
}

}  // namespace partita
