// Planner::Place: checks, then the strategy.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/planner/constraints.h"
#include "placement/planner/pins.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

absl::Status CheckObjective(const Machine& machine,
                            const Objective& objective) {
  if (machine.devices.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "machine ", machine.name, ": found no device; expected at least one"));
  }
  if (objective.memory_limits.size() == machine.devices.size()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("objective: found ", objective.memory_limits.size(),
                   " memory limits; expected one for each of ",
                   machine.devices.size(), " devices"));
}

}  // namespace

absl::StatusOr<PlacementTable> Planner::Place(
    const Graph& graph, const Machine& machine, const KernelCatalog& catalog,
    const Objective& objective, const PlannerOptions& options) const {
  PARTITA_RETURN_IF_ERROR(CheckObjective(machine, objective));
  const CostModel costs(graph, machine, catalog);
  PARTITA_RETURN_IF_ERROR(CheckKernelsExist(costs));
  PARTITA_RETURN_IF_ERROR(CheckPins(costs));
  PARTITA_ASSIGN_OR_RETURN(const Constraints constraints,
                           Constraints::Resolve({costs, objective, options}));
  const PlanRequest request = {costs, objective, options, &constraints};
  PARTITA_ASSIGN_OR_RETURN(const Draft drafted, options.follows_variables
                                                    ? follow(request)
                                                    : draft(request));
  PARTITA_RETURN_IF_ERROR(constraints.Check(request, drafted));
  return ToTable(request, drafted, name);
}

absl::Span<const Planner> Planners() { return kPlanners; }

}  // namespace partita
