// Asks the strategy function by function, and keeps its likely draft.
// SPDX-License-Identifier: Apache-2.0

#include "partita/module_placer.h"

#include <optional>
#include <utility>

#include "graph/batch.h"
#include "graph/status_macros.h"
#include "partita/compile_request.h"
#include "partita/latest_predictions.h"
#include "partita/placed_graph.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

EntryNotes ReasonNotes(const Graph& graph, const PlacementTable& table) {
  EntryNotes notes;
  for (NodeId node : graph.order()) {
    const PlacedNode& placed = table.nodes[node.index];
    if (!placed.placement.placed()) continue;
    notes.nodes.push_back({node, ReasonText(graph, placed), 0});
  }
  return notes;
}

std::vector<Placement> PlacementsOf(const PlacementTable& table) {
  std::vector<Placement> placements;
  for (const PlacedNode& node : table.nodes) {
    placements.push_back(node.placement);
  }
  return placements;
}

}  // namespace

ModulePlacer::ModulePlacer(const SourceModule& source,
                           const CompileTarget& target, StageClock& stages,
                           DraftFigures& drafts)
    : source_(source),
      target_(target),
      stages_(stages),
      drafts_(drafts),
      deciding_order_(DecidingOrder(source.module())),
      start_(std::chrono::steady_clock::now()) {}

absl::StatusOr<PlacedFunction> ModulePlacer::PartitionAs(
    const PlacingOptions& placing, const Graph& function,
    std::vector<Placement> placements) {
  PlacedFunction placed;
  placed.number = placing.number;
  // The copy has the ids of `function`, so that notes on nodes hold.
  placed.graph = function.Clone(&function.literals());
  PARTITA_RETURN_IF_ERROR(PartitionCopy(source_, target_, placing.number,
                                        placements, placing.homes,
                                        *placed.graph));
  placed.placements = std::move(placements);
  placed.fingerprint = FingerprintOf(*placed.graph);
  return placed;
}

PlannerOptions ModulePlacer::OptionsFor(const PlacingOptions& placing,
                                        Graph& function) const {
  const MicroBatches& parts = source_.MicroBatchesOf(placing.number);
  PlannerOptions options = target_.options().planner;
  options.micro_batches = parts;
  options.output_device = target_.options().output_device;
  options.batch = parts.count > 1
                      ? BatchOfInputs(function, parts.sharded_inputs)
                      : FindBatch(function, target_.options().batch_inputs);
  options.follows_variables = WriteHomes(placing.homes, function);
  return options;
}

Objective ModulePlacer::ObjectiveFor(const PlacingOptions& placing) const {
  const CompileOptions& options = target_.options();
  const ObjectiveChoice choice = ObjectiveOf(options);
  Objective objective{.goal = choice.goal,
                      .most_step_seconds = choice.most_step_seconds,
                      .memory_limits = placing.limits,
                      .depth = options.depth,
                      .progress = options.progress};
  if (options.planner.time_budget_ms.has_value()) {
    const auto end =
        start_ + std::chrono::milliseconds(*options.planner.time_budget_ms);
    objective.is_time_over = [end] {
      return std::chrono::steady_clock::now() >= end;
    };
  }
  return objective;
}

absl::StatusOr<PlacedFunction> ModulePlacer::PlaceFunction(
    const PlacingOptions& placing, Graph& function) {
  const PlannerOptions options = OptionsFor(placing, function);
  // The draft that the strategy probably takes: the last that fits, else the
  // one that misses least. Of the others only the figures are kept.
  std::optional<PlacedFunction> placed;
  int64_t missing = 0;
  LatestPredictions latest;
  const auto predict = [&](absl::Span<const Placement> placements)
      -> absl::StatusOr<PredictedDraft> {
    const PredictedDraft* known = latest.Find(placements);
    if (known != nullptr) return *known;
    PARTITA_ASSIGN_OR_RETURN(
        PlacedFunction draft,
        PartitionAs(placing, function, {placements.begin(), placements.end()}));
    std::vector<PlacedFunction*> functions(placing.before.begin(),
                                           placing.before.end());
    functions.push_back(&draft);
    PARTITA_ASSIGN_OR_RETURN(PredictedDraft predicted,
                             drafts_.Predict(functions));
    latest.Add(placements, predicted);
    const int64_t missing_here =
        drafts_.MissingIn(predicted.needed_bytes).bytes;
    if (!placed.has_value() || missing_here == 0 || missing_here < missing) {
      placed = std::move(draft);
      missing = missing_here;
    }
    return predicted;
  };
  const auto count = [&](absl::Span<const Placement> placements)
      -> absl::StatusOr<std::vector<int64_t>> {
    PARTITA_ASSIGN_OR_RETURN(PredictedDraft predicted, predict(placements));
    return std::move(predicted.needed_bytes);
  };
  Objective objective = ObjectiveFor(placing);
  objective.needed_bytes = count;
  objective.predict = predict;
  PARTITA_ASSIGN_OR_RETURN(
      const PlacementTable table,
      placing.planner.Place(function, target_.machine(), target_.catalog(),
                            objective, options));
  std::vector<Placement> placements = PlacementsOf(table);
  if (!placed.has_value() || placed->placements != placements) {
    PARTITA_ASSIGN_OR_RETURN(
        placed, PartitionAs(placing, function, std::move(placements)));
  }
  placed->notes = ReasonNotes(function, table);
  return *std::move(placed);
}

absl::StatusOr<PlacedModule> ModulePlacer::Place(
    const Planner& planner, const std::vector<int64_t>& limits) {
  PlacedModule placed{source_.module().Clone(), {}, {}, {}};
  placed.functions.resize(placed.module.functions().size());
  VariableHomes homes = HomesToDecide(placed.module);
  PARTITA_RETURN_IF_ERROR(stages_.Run("place", [&]() -> absl::Status {
    for (int i : deciding_order_) {
      const PlacingOptions placing{planner, limits, i, placed.deciding, homes};
      PlacedFunction& function = placed.functions[i];
      PARTITA_ASSIGN_OR_RETURN(
          function, PlaceFunction(placing, *placed.module.functions()[i]));
      DecideHomes(*function.graph, homes);
      placed.fingerprints.push_back(function.fingerprint);
      placed.deciding.push_back(&function);
    }
    return absl::OkStatus();
  }));
  return placed;
}

}  // namespace partita
