// Calls planners by name.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/plan_sample.h"

#include <memory>
#include <utility>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/lower.h"
#include "placement/partition/partition.h"
#include "placement/planner/constraint_groups.h"

namespace partita {
namespace {

// Binds the only kernel of the catalog to every node that computes.
void BindKernels(Graph& graph, const Machine& machine,
                 const SampleCatalog& catalog) {
  for (const OpView& op : graph.ops()) {
    if (op.is(kConstant) || op.is(kVariable) || op.is(kCopy)) continue;
    const MachineDevice& device =
        *machine.FindDevice(op.node().placement.devices[0]);
    KernelBinding binding{.kernel = "sample.work"};
    for (const KernelChoice& choice : catalog.Choices(op, device.traits)) {
      binding.workspace = choice.workspace;
    }
    graph.node(op.id()).kernel = std::move(binding);
  }
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> SampleBytes(
    const SampleGraph& g, const Machine& machine,
    absl::Span<const Placement> placements, const SampleCatalog& catalog,
    int depth) {
  const std::unique_ptr<Graph> graph = g.graph().Clone(&g.graph().literals());
  PARTITA_RETURN_IF_ERROR(Partition(*graph, placements, machine));
  BindKernels(*graph, machine, catalog);
  const Lowering lowering(machine, {.depth = depth});
  PARTITA_ASSIGN_OR_RETURN(CountedFunction counted,
                           lowering.CountLiveBytes(*graph, 0));
  PARTITA_ASSIGN_OR_RETURN(CountedPlan figures, lowering.Figures({&counted}));
  return std::move(figures.needed_bytes);
}

absl::StatusOr<PlacementTable> PlanBy(absl::string_view strategy,
                                      const SampleGraph& g,
                                      const Machine& machine,
                                      const PlannerOptions& options,
                                      const SampleCatalog& catalog, int depth) {
  Objective objective;
  objective.depth = depth;
  for (const MachineDevice& device : machine.devices) {
    objective.memory_limits.push_back(device.usable());
  }
  objective.needed_bytes = [&](absl::Span<const Placement> placements) {
    return SampleBytes(g, machine, placements, catalog, depth);
  };
  const std::unique_ptr<Graph> graph = g.graph().Clone(&g.graph().literals());
  WriteConstraints(*graph, options.constraints);
  for (const Planner& planner : Planners()) {
    if (planner.name != strategy) continue;
    return planner.Place(*graph, machine, catalog, objective, options);
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
