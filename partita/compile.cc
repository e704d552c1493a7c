// Runs all stages: passes, strategies, generated code, proof, report.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "graph/text/printer.h"
#include "partita/best_step.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/compile_request.h"
#include "partita/predict.h"
#include "partita/remedy.h"
#include "partita/step_search.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/draft_score.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

// For the page: the winning strategy, and the others' results.
std::string Summary(const CompileReport& report,
                    const CompileOptions& options) {
  std::string text = absl::StrCat("placed by ", report.strategy);
  if (!report.chosen_step.empty()) {
    absl::StrAppend(&text, " in ", report.chosen_step);
  }
  if (options.planner.time_budget_ms.has_value()) {
    absl::StrAppendFormat(&text,
                          " within %g s, so another run may place differently",
                          *options.planner.time_budget_ms / 1e3);
  }
  for (const Candidate& candidate : report.candidates) {
    if (candidate.strategy == report.strategy) continue;
    absl::StrAppend(
        &text, "\n", candidate.strategy, ": ",
        candidate.refusal.empty()
            ? absl::StrFormat("%.3g ms a step", candidate.step_seconds * 1e3)
            : candidate.refusal);
  }
  return text;
}

absl::Status CheckAll(const Module& module, const Machine& machine,
                      const CompileOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckRequest(machine, options));
  PARTITA_RETURN_IF_ERROR(CheckBuckets(module, machine, options));
  PARTITA_RETURN_IF_ERROR(CheckSchedule(module, machine, options));
  return CheckConstraintPatterns(module, options.planner.constraints);
}

// FailedPrecondition if even the best plan takes longer than the objective
// allows.
absl::Status CheckInTime(const CompileOptions& options,
                         const CompiledStep& step) {
  const DraftScore& score = step.best.score;
  if (score.late == 0) return absl::OkStatus();
  return OfOption(
      "objective",
      absl::FailedPreconditionError(absl::StrFormat(
          "objective: found no plan with a step of at most %g s; expected one; "
          "allow %.3g s, the predicted step of the nearest plan, by strategy "
          "%s, or take the objective latency",
          ObjectiveOf(options).most_step_seconds, score.seconds,
          step.compilation->report().strategy)));
}

// Keeps the original module for remedies that change `options`.
absl::StatusOr<Compiled> CompileUntil(LastStage last, Module module,
                                      const Machine& machine,
                                      const CompileOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckAll(module, machine, options));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<StepToCompile> steps,
                           StepsToCompile(module, machine, options));
  absl::StatusOr<CompiledStep> step =
      CompileBestStep(module, machine, steps, planners, last);
  if (!step.ok()) {
    return WithRemedies(step.status(), module, machine, options);
  }
  PARTITA_RETURN_IF_ERROR(CheckInTime(options, *step));
  Compilation& compilation = *step->compilation;
  BestPlan& best = step->best;
  CompileReport& report = compilation.report();
  Plan& plan = best.attempt.plan;
  if (!options.plan_name.empty()) plan.name = options.plan_name;
  plan.notes = std::move(best.prediction.notes);
  plan.notes->summary = Summary(report, options);
  if (last == LastStage::kProof) {
    PARTITA_RETURN_IF_ERROR(compilation.BuildCode(plan));
    PARTITA_RETURN_IF_ERROR(compilation.Prove(best.attempt));
  }
  const bool shards_updates = report.strategy == "data" &&
                              plan.devices.size() > 1 &&
                              options.planner.sharded_update_bytes.has_value();
  PARTITA_RETURN_IF_ERROR(FillReport(plan, best.prediction, best.attempt.chosen,
                                     shards_updates, report));
  return Compiled{std::move(plan), std::move(report)};
}

// The texts of the plan that Compile makes.
absl::StatusOr<Attempt> TryForTexts(const Module& module,
                                    const Machine& machine,
                                    absl::Span<const StepToCompile> steps,
                                    const Planner& planner) {
  const auto* step = steps.begin();
  if (steps.size() > 1) {
    PARTITA_ASSIGN_OR_RETURN(const CompiledStep best,
                             CompileBestStep(module, machine, steps, {planner},
                                             LastStage::kPrediction));
    step = absl::c_find_if(steps, [&](const StepToCompile& other) {
      return other.chosen == best.compilation->report().chosen_step;
    });
  }
  Compilation compilation(module.Clone(), machine, step->options);
  PARTITA_RETURN_IF_ERROR(compilation.Optimise());
  PARTITA_RETURN_IF_ERROR(compilation.DivideIntoMicroBatches());
  return compilation.Try(planner, /*with_texts=*/true);
}

}  // namespace

absl::StatusOr<Compiled> Compile(Module module, const Machine& machine,
                                 const CompileOptions& options) {
  return CompileUntil(LastStage::kProof, std::move(module), machine, options);
}

absl::StatusOr<Compiled> Predict(Module module, const Machine& machine,
                                 const CompileOptions& options) {
  return CompileUntil(LastStage::kPrediction, std::move(module), machine,
                      options);
}

absl::StatusOr<std::string> CompileTo(absl::string_view stage, Module module,
                                      const Machine& machine,
                                      const CompileOptions& options) {
  if (stage == "plan") {
    PARTITA_ASSIGN_OR_RETURN(const Compiled compiled,
                             Compile(std::move(module), machine, options));
    return PrintPlan(compiled.plan);
  }
  if (stage != "optimised" && stage != "placed" && stage != "kernels") {
    return absl::InvalidArgumentError(
        absl::StrCat("stage ", stage, ": found no such stage; expected ",
                     "optimised, placed, kernels or plan"));
  }
  PARTITA_RETURN_IF_ERROR(CheckAll(module, machine, options));
  if (stage == "optimised") {
    Compilation compilation(module.Clone(), machine, options);
    PARTITA_RETURN_IF_ERROR(compilation.Optimise());
    return PrintModule(compilation.source());
  }
  if (options.strategy == "auto") {
    return OfOption("stop-after",
                    absl::InvalidArgumentError(absl::StrCat(
                        "stop-after ", stage,
                        ": found strategy auto, which chooses among finished "
                        "plans; expected a strategy by name, such as list")));
  }
  PARTITA_ASSIGN_OR_RETURN(const std::vector<Planner> planners,
                           PlannersFor(module, options));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<StepToCompile> steps,
                           StepsToCompile(module, machine, options));
  const absl::StatusOr<Attempt> attempt =
      TryForTexts(module, machine, steps, planners.front());
  if (!attempt.ok()) {
    return WithRemedies(attempt.status(), module, machine, options);
  }
  return stage == "placed" ? attempt->placed_text : attempt->kernels_text;
}

}  // namespace partita
