// Rounds with less memory, and the last steps of lowering.
// SPDX-License-Identifier: Apache-2.0

#include "partita/attempt.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "partita/placed_graph.h"
#include "placement/planner/memory_rounds.h"

namespace partita {

Attempts::Attempts(const SourceModule& source, const CompileTarget& target,
                   StageClock& stages, bool opens_codegen)
    : source_(source),
      target_(target),
      stages_(stages),
      drafts_(source, target, stages, opens_codegen),
      placer_(source, target, stages, drafts_) {}

absl::Status Attempts::WritePlacedText(Module& module, Attempt& attempt) const {
  PARTITA_ASSIGN_OR_RETURN(
      std::vector<std::unique_ptr<Graph>> graphs,
      PlacedGraphs(source_, target_, attempt.placements, module.literals()));
  for (size_t i = 0; i < graphs.size(); ++i) {
    module.SetFunction(static_cast<int>(i), std::move(graphs[i]));
  }
  attempt.placed_text = PrintModule(module);
  return absl::OkStatus();
}

absl::StatusOr<Attempt> Attempts::Finish(const Planner& planner,
                                         bool with_texts, PlacedModule placed) {
  const Fingerprints& key = placed.fingerprints;
  if (const auto before = refused_.find(key); before != refused_.end()) {
    return before->second;
  }
  Attempt attempt;
  std::vector<CountedFunction> counted;
  for (PlacedFunction& function : placed.functions) {
    PARTITA_RETURN_IF_ERROR(drafts_.Count(function));
    counted.push_back(*std::move(function.counted));
    attempt.placements.push_back(std::move(function.placements));
    attempt.notes.push_back(std::move(function.notes));
    attempt.chosen.push_back(std::move(function.chosen));
  }
  if (with_texts) {
    PARTITA_RETURN_IF_ERROR(WritePlacedText(placed.module, attempt));
  }
  for (PlacedFunction& function : placed.functions) {
    placed.module.SetFunction(function.number, std::move(function.graph));
  }
  if (with_texts) attempt.kernels_text = PrintModule(placed.module);
  absl::StatusOr<Plan> plan = absl::UnknownError("");
  PARTITA_RETURN_IF_ERROR(stages_.Run("lay out", [&] {
    plan =
        drafts_.lowering().Finish(std::move(placed.module), std::move(counted));
    return absl::OkStatus();
  }));
  if (!plan.ok()) {
    refused_.emplace(key, plan.status());
    return plan.status();
  }
  attempt.plan = *std::move(plan);
  planned_.emplace(key, planner.name);
  return attempt;
}

absl::StatusOr<Attempt> Attempts::Try(const Planner& planner, bool with_texts) {
  MemoryRounds rounds(target_.usable(), planner.reads_memory_limits);
  // The placement that misses least, or its refusal.
  std::optional<PlacedModule> least;
  absl::Status refusal;
  while (rounds.goes_on()) {
    absl::StatusOr<PlacedModule> attempted =
        placer_.Place(planner, rounds.limits());
    // Within less memory there may be no placement; an earlier one is left.
    if (!attempted.ok() && !rounds.is_first()) break;
    PARTITA_ASSIGN_OR_RETURN(PlacedModule placed, std::move(attempted));
    const auto same = planned_.find(placed.fingerprints);
    if (same != planned_.end()) return Attempt{.repeats = same->second};
    PARTITA_ASSIGN_OR_RETURN(const PredictedDraft predicted,
                             drafts_.Predict(placed.deciding));
    MissingBytes missing = drafts_.MissingIn(predicted.needed_bytes);
    absl::Status packed;
    if (missing.device < 0) {
      // Packing may take more than was counted.
      absl::StatusOr<Attempt> attempt =
          Finish(planner, with_texts, std::move(placed));
      packed = attempt.status();
      missing = drafts_.MissingIn(packed);
      if (missing.device < 0) return attempt;
    }
    if (!rounds.EndShort(missing.device, missing.bytes)) continue;
    refusal = packed;
    least.reset();
    if (packed.ok()) least.emplace(std::move(placed));
  }
  if (least.has_value()) return Finish(planner, with_texts, *std::move(least));
  return refusal;
}

}  // namespace partita
