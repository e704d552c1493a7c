// Compiles a module with the best of several steps.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BEST_STEP_H_
#define PARTITA_PARTITA_BEST_STEP_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/step_search.h"
#include "placement/machine/machine.h"
#include "placement/planner/planner.h"

namespace partita {

enum class LastStage : uint8_t { kPrediction, kProof };

// A module that is placed and lowered, but has neither native code nor proof.
struct CompiledStep {
  std::unique_ptr<Compilation> compilation;  // its report names the step
  BestPlan best;
};

// The best by the objective of the options; among equals the last step, the
// simplest. The machine and the steps must outlive the result. If none can be
// compiled: the error of the last. `last`: what the caller goes on to.
absl::StatusOr<CompiledStep> CompileBestStep(
    const Module& module, const Machine& machine,
    absl::Span<const StepToCompile> steps, absl::Span<const Planner> planners,
    LastStage last);

}  // namespace partita

#endif  // PARTITA_PARTITA_BEST_STEP_H_
