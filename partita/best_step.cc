// Compares steps by their best plans.
// SPDX-License-Identifier: Apache-2.0

#include "partita/best_step.h"

#include <optional>
#include <utility>

#include "graph/status_macros.h"
#include "partita/compile_request.h"
#include "placement/planner/draft_score.h"

namespace partita {
namespace {

absl::StatusOr<CompiledStep> CompileStep(const Module& module,
                                         const Machine& machine,
                                         const StepToCompile& step,
                                         absl::Span<const Planner> planners,
                                         LastStage last) {
  CompiledStep compiled{
      std::make_unique<Compilation>(module.Clone(), machine, step.options), {}};
  Compilation& compilation = *compiled.compilation;
  if (last == LastStage::kProof) compilation.OpenCodegenEarly();
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  PARTITA_RETURN_IF_ERROR(compilation.DivideIntoMicroBatches());
  PARTITA_ASSIGN_OR_RETURN(
      compiled.best,
      TryStrategies(compilation, planners, ObjectiveOf(step.options)));
  compilation.report().chosen_step = step.chosen;
  return compiled;
}

}  // namespace

absl::StatusOr<CompiledStep> CompileBestStep(
    const Module& module, const Machine& machine,
    absl::Span<const StepToCompile> steps, absl::Span<const Planner> planners,
    LastStage last) {
  std::optional<CompiledStep> best;
  absl::Status fault;
  for (const StepToCompile& step : steps) {
    absl::StatusOr<CompiledStep> compiled =
        CompileStep(module, machine, step, planners, last);
    fault = compiled.status();
    if (!compiled.ok()) continue;
    const bool is_worse =
        best.has_value() && IsBetter(best->best.score, compiled->best.score);
    if (!is_worse) best.emplace(*std::move(compiled));
  }
  if (!best.has_value()) return fault;
  return *std::move(best);
}

}  // namespace partita
