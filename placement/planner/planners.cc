// The table of strategies, and the checks before and after each of them.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/planner/pins.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/planner.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

struct Strategy {
  const char* name;
  StrategyFn draft;
  StrategyFn follow;  // for a graph that follows the variables of another
};

constexpr Strategy kSingle = {"single", DraftSingle, DraftSingle};
constexpr Strategy kPinned = {"pinned", DraftPinned, DraftPinned};
constexpr Strategy kData = {"data", DraftData, DraftData};
constexpr Strategy kPipeline = {"pipeline", DraftPipeline, DraftPinned};
constexpr Strategy kList = {"list", DraftList, DraftPinned};

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

absl::StatusOr<PlacementTable> Run(const Strategy& strategy, const Graph& graph,
                                   const Machine& machine,
                                   const KernelCatalog& catalog,
                                   const Objective& objective,
                                   const PlannerOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckObjective(machine, objective));
  const CostModel costs(graph, machine, catalog);
  PARTITA_RETURN_IF_ERROR(CheckKernelsExist(costs));
  PARTITA_RETURN_IF_ERROR(CheckPins(costs));
  const PlanRequest request = {costs, objective, options};
  const StrategyFn place =
      options.follows_variables ? strategy.follow : strategy.draft;
  PARTITA_ASSIGN_OR_RETURN(const Draft draft, place(request));
  return ToTable(request, draft, strategy.name);
}

template <const Strategy& strategy>
absl::StatusOr<PlacementTable> Plan(const Graph& graph, const Machine& machine,
                                    const KernelCatalog& catalog,
                                    const Objective& objective,
                                    const PlannerOptions& options) {
  return Run(strategy, graph, machine, catalog, objective, options);
}

constexpr Planner kPlanners[] = {
    {.name = "single",
     .doc = "the whole graph on the fastest device with enough memory",
     .plan = Plan<kSingle>,
     .reads_device = true},
    {.name = "pinned",
     .doc = "pinned nodes as pinned, other nodes near their operands",
     .plan = Plan<kPinned>,
     .needs_pins = true},
    {.name = "data",
     .doc = "the batch sharded over replicas on identical devices",
     .plan = Plan<kData>,
     .reads_replicas = true},
    {.name = "pipeline",
     .doc = "consecutive stages; minimizes the time of the slowest stage",
     .plan = Plan<kPipeline>,
     .reads_stages = true},
    {.name = "list",
     .doc = "earliest finish time of each node, within memory",
     .plan = Plan<kList>},
};

}  // namespace

absl::Span<const Planner> Planners() { return kPlanners; }

}  // namespace partita
