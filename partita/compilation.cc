// Names each stage and calls what does it.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compilation.h"

#include <utility>

#include "graph/status_macros.h"
#include "partita/plan_code.h"
#include "partita/prove_attempt.h"

namespace partita {

Compilation::Compilation(Module module, const Machine& machine,
                         const CompileOptions& options)
    : target_(machine, options),
      stages_(target_, report_.stages),
      source_(std::move(module), target_) {}

absl::Status Compilation::Optimise() {
  return stages_.Run("optimise", [&]() -> absl::Status {
    PARTITA_RETURN_IF_ERROR(source_.Optimise(report_.passes));
    report_.idle_pins = source_.IdlePins();
    return absl::OkStatus();
  });
}

absl::Status Compilation::DivideIntoMicroBatches() {
  if (target_.options().micro_batches.value_or(1) == 1) return absl::OkStatus();
  return stages_.Run("micro-batches",
                     [&] { return source_.DivideIntoMicroBatches(); });
}

absl::StatusOr<Attempt> Compilation::Try(const Planner& planner,
                                         bool with_texts) {
  if (!attempts_.has_value()) {
    source_.Renumber();
    attempts_.emplace(source_, target_, stages_, opens_codegen_early_);
  }
  return attempts_->Try(planner, with_texts);
}

absl::StatusOr<Prediction> Compilation::Predict(Attempt& attempt) {
  Prediction prediction;
  PARTITA_RETURN_IF_ERROR(stages_.Run("predict", [&]() -> absl::Status {
    PARTITA_ASSIGN_OR_RETURN(
        prediction, PredictPlan(attempt.plan, source_.module(),
                                target_.machine(), target_.catalog(),
                                attempt.chosen, std::move(attempt.notes)));
    return absl::OkStatus();
  }));
  return prediction;
}

absl::Status Compilation::BuildCode(Plan& plan) {
  return stages_.Run("native code", [&] {
    return BuildPlanCode(target_.traits(), target_.catalog(), plan);
  });
}

absl::Status Compilation::Prove(Attempt& attempt) {
  return stages_.Run("prove",
                     [&] { return ProveAttempt(source_, target_, attempt); });
}

}  // namespace partita
