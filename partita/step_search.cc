// A hill climb over micro-batches, schedules and buckets.
// SPDX-License-Identifier: Apache-2.0

#include "partita/step_search.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "graph/status_macros.h"
#include "partita/best_strategy.h"
#include "partita/compilation.h"
#include "partita/compile_request.h"
#include "partita/gaining_strategies.h"
#include "partita/micro_batch_counts.h"
#include "placement/lower/refusal.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/planner.h"
#include "placement/planner/search_budget.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

// A trial compiles the module by several strategies, so few are made.
constexpr int64_t kLeastTrials = 6;
constexpr int64_t kMostTrials = 32;
// Nodes times micro-batches of a trial, which its seconds and bytes grow with.
constexpr int64_t kMostInstances = 200'000;
// The share of the step that a change must save: predictions are not exact.
constexpr double kLeastGain = 0.01;
constexpr int64_t kBucketSizes[] = {0,
                                    int64_t{1} << 18,
                                    int64_t{1} << 20,
                                    kUsualBucketBytes,
                                    int64_t{1} << 24,
                                    int64_t{1} << 26};

// What a step has beside its placement.
struct StepSettings {
  int micro_batches = 1;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  int64_t bucket_bytes = kUsualBucketBytes;

  friend bool operator==(const StepSettings&, const StepSettings&) = default;
};

std::string TextOf(const StepSettings& settings) {
  std::string text = "1 micro-batch";
  if (settings.micro_batches > 1) {
    const bool is_gpipe = settings.schedule == PipelineSchedule::kGPipe;
    text = absl::StrCat(settings.micro_batches, " micro-batches, ",
                        is_gpipe ? "gpipe" : "1f1b");
  }
  absl::StrAppendFormat(&text, ", buckets of %g MiB",
                        static_cast<double>(settings.bucket_bytes) / (1 << 20));
  return text;
}

struct ScoredStep {
  StepSettings settings;
  DraftScore score;
  std::string strategy;
  bool has_collectives = false;
};

struct RefusedStep {
  StepSettings settings;
  int64_t missing = 0;  // bytes, on the device that lacks most
};

bool HasCollectives(const Plan& plan) {
  return absl::c_any_of(
      plan.entries, [](const Entry& entry) { return !entry.groups.empty(); });
}

class StepSearch {
 public:
  StepSearch(const Module& module, const Machine& machine,
             const CompileOptions& options)
      : module_(module),
        machine_(machine),
        options_(options),
        usual_{
            options.micro_batches.value_or(1),
            options.schedule.value_or(PipelineSchedule::kOneForwardOneBackward),
            options.bucket_bytes.value_or(kUsualBucketBytes)},
        nodes_(static_cast<int64_t>(module.main().order().size())),
        trials_left_(std::clamp(
            EvaluationsFor(options.planner, nodes_) / kEvaluationsPerLowering,
            kLeastTrials, kMostTrials)) {
    counts_ = {usual_.micro_batches};
    if (options.micro_batches.has_value()) return;
    for (int count : MicroBatchCountsAbove(1, module, options.batch_inputs)) {
      if (count * nodes_ <= kMostInstances) counts_.push_back(count);
    }
  }

  absl::StatusOr<StepSettings> Run() {
    PARTITA_ASSIGN_OR_RETURN(planners_, PlannersOfTrials());
    AddMicroBatches();
    while (best_.has_value() && Improve()) {
    }
    if (best_.has_value()) return best_->settings;
    return nearest_.has_value() ? nearest_->settings : usual_;
  }

  const StepSettings& usual() const { return usual_; }

  // Of a time budget.
  int64_t MillisecondsLeft() const {
    const auto used = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - start_);
    return *options_.planner.time_budget_ms - used.count();
  }

  CompileOptions OptionsWith(const StepSettings& settings) const {
    CompileOptions options = options_;
    options.micro_batches = settings.micro_batches;
    if (settings.micro_batches > 1) options.schedule = settings.schedule;
    options.bucket_bytes = settings.bucket_bytes;
    return options;
  }

 private:
  // The search too where there are constraints: the others may break them with
  // every number of micro-batches.
  absl::StatusOr<std::vector<Planner>> PlannersOfTrials() const {
    const CompileOptions trial = QuickOptions(OptionsWith(usual_));
    const bool has_constraints = !trial.planner.constraints.empty() ||
                                 trial.planner.most_devices.has_value();
    return has_constraints ? PlannersFor(module_, trial)
                           : QuickPlanners(module_, trial);
  }

  // Ascending numbers, each by the strategies that may gain.
  void AddMicroBatches() {
    GainingStrategies gaining(planners_, ObjectiveOf(options_));
    for (int count : counts_) {
      if (gaining.planners().empty()) return;
      std::vector<Candidate> tried;
      Offer(WithCount(usual_, count), gaining.planners(), tried);
      if (tried.empty()) return;  // larger numbers cannot split it either
      if (!best_.has_value()) continue;
      gaining.Narrow(tried, best_->score.seconds * (1 - kLeastGain));
    }
  }

  // A round of moves. True if one was better.
  bool Improve() {
    const StepSettings from = best_->settings;
    bool improves = false;
    for (const StepSettings& next : NeighboursOf(from)) {
      std::vector<Candidate> tried;
      improves |= Offer(next, PlannersOfMoves(), tried);
    }
    return improves;
  }

  // The strategy of the best step. Memory is saved by any.
  std::vector<Planner> PlannersOfMoves() const {
    if (ObjectiveOf(options_).goal == Goal::kMemory) return planners_;
    std::vector<Planner> planners;
    absl::c_copy_if(planners_, std::back_inserter(planners),
                    [&](const Planner& planner) {
                      return planner.name == best_->strategy;
                    });
    return planners;
  }

  std::vector<StepSettings> NeighboursOf(const StepSettings& from) const {
    std::vector<StepSettings> next;
    const auto count = absl::c_find(counts_, from.micro_batches);
    if (count != counts_.end() && count + 1 != counts_.end()) {
      next.push_back(WithCount(from, *(count + 1)));
    }
    if (count != counts_.begin()) next.push_back(WithCount(from, *(count - 1)));
    if (!options_.schedule.has_value() && from.micro_batches > 1) {
      next.push_back(from);
      next.back().schedule = from.schedule == PipelineSchedule::kGPipe
                                 ? PipelineSchedule::kOneForwardOneBackward
                                 : PipelineSchedule::kGPipe;
    }
    if (options_.bucket_bytes.has_value() || !best_->has_collectives) {
      return next;
    }
    const auto* size = absl::c_find(kBucketSizes, from.bucket_bytes);
    if (size + 1 != std::end(kBucketSizes)) {
      next.push_back(from);
      next.back().bucket_bytes = *(size + 1);
    }
    if (size != std::begin(kBucketSizes)) {
      next.push_back(from);
      next.back().bucket_bytes = *(size - 1);
    }
    return next;
  }

  // A whole batch has no schedule of its own.
  StepSettings WithCount(StepSettings settings, int count) const {
    settings.micro_batches = count;
    if (count == 1) settings.schedule = usual_.schedule;
    return settings;
  }

  // True if it is the best so far. Fills in what the strategies made.
  bool Offer(const StepSettings& settings, absl::Span<const Planner> planners,
             std::vector<Candidate>& tried) {
    if (trials_left_ == 0 || IsTimeOver()) return false;
    if (absl::c_linear_search(tried_, settings)) return false;
    tried_.push_back(settings);
    --trials_left_;
    Report(settings);
    absl::StatusOr<ScoredStep> step = Predict(settings, planners, tried);
    if (!step.ok()) {
      KeepNearest(settings, step.status());
      return false;
    }
    if (best_.has_value() && !IsBetter(step->score, best_->score, kLeastGain)) {
      return false;
    }
    best_ = *std::move(step);
    return true;
  }

  // Among equals the earlier one.
  void KeepNearest(const StepSettings& settings, const absl::Status& refusal) {
    const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
    if (!shortage.has_value()) return;
    const int64_t missing = shortage->missing();
    if (nearest_.has_value() && missing >= nearest_->missing) return;
    nearest_ = RefusedStep{settings, missing};
  }

  void Report(const StepSettings& settings) const {
    if (!options_.progress) return;
    std::string text =
        absl::StrCat("step ", tried_.size(), ": ", TextOf(settings));
    if (best_.has_value()) {
      absl::StrAppendFormat(&text, ", best %.3g ms",
                            best_->score.seconds * 1e3);
    }
    options_.progress(text);
  }

  absl::StatusOr<ScoredStep> Predict(const StepSettings& settings,
                                     absl::Span<const Planner> planners,
                                     std::vector<Candidate>& tried) const {
    const CompileOptions trial = QuickOptions(OptionsWith(settings));
    Compilation compilation(module_.Clone(), machine_, trial);
    PARTITA_RETURN_IF_ERROR(compilation.Optimise());
    PARTITA_RETURN_IF_ERROR(compilation.DivideIntoMicroBatches());
    const absl::StatusOr<BestPlan> best =
        TryStrategies(compilation, planners, ObjectiveOf(trial));
    tried = std::move(compilation.report().candidates);
    PARTITA_RETURN_IF_ERROR(best.status());
    return ScoredStep{settings, best->score, compilation.report().strategy,
                      HasCollectives(best->attempt.plan)};
  }

  static CompileOptions QuickOptions(CompileOptions options) {
    options.strategy = "auto";
    options.planner.evaluations = kLeastEvaluations;
    options.planner.time_budget_ms.reset();  // or a search would use it up
    options.progress = nullptr;
    options.passes.dump_folder.clear();  // dumps are only of the chosen step
    return options;
  }

  // The rest of a time budget is for the search with the step that is chosen.
  bool IsTimeOver() const {
    const std::optional<int64_t>& budget = options_.planner.time_budget_ms;
    return budget.has_value() && MillisecondsLeft() < *budget / 2;
  }

  const Module& module_;
  const Machine& machine_;
  const CompileOptions& options_;
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
  const StepSettings usual_;
  const int64_t nodes_;
  std::vector<Planner> planners_;
  std::vector<int> counts_;  // of micro-batches
  int64_t trials_left_;
  std::vector<StepSettings> tried_;
  std::optional<ScoredStep> best_;
  // That lacks the least memory. Trials look at few placements, so the search
  // may fit it.
  std::optional<RefusedStep> nearest_;
};

}  // namespace

absl::StatusOr<std::vector<StepToCompile>> StepsToCompile(
    const Module& module, const Machine& machine,
    const CompileOptions& options) {
  std::vector<StepToCompile> steps;
  if (!ChoosesStep(module, machine, options)) {
    steps.push_back({options, ""});
    return steps;
  }
  StepSearch search(module, machine, options);
  PARTITA_ASSIGN_OR_RETURN(const StepSettings best, search.Run());
  StepToCompile usual{options, ""};
  StepToCompile chosen{search.OptionsWith(best), TextOf(best)};
  const bool is_usual = best == search.usual();
  if (!is_usual) steps.push_back(std::move(chosen));
  if (!options.planner.time_budget_ms.has_value()) {
    steps.push_back(std::move(usual));
    return steps;
  }
  if (is_usual) steps.push_back(std::move(usual));
  steps[0].options.planner.time_budget_ms =
      std::max<int64_t>(1, search.MillisecondsLeft());
  return steps;
}

}  // namespace partita
