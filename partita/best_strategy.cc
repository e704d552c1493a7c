// Compares strategies by their predictions, and collects their refusals.
// SPDX-License-Identifier: Apache-2.0

#include "partita/best_strategy.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/status_macros.h"
#include "placement/lower/refusal.h"
#include "runtime/plan/plan_layout.h"

namespace partita {
namespace {

// Of a plan that fits.
DraftScore Score(const BestPlan& plan, const ObjectiveChoice& objective) {
  std::vector<int64_t> arenas;
  const int depth = PlanDepth(plan.attempt.plan);
  for (const PlanDevice& device : plan.attempt.plan.devices) {
    arenas.push_back(ArenaBytes(device, depth));
  }
  return ScoreOf({.goal = objective.goal,
                  .most_step_seconds = objective.most_step_seconds},
                 {.limits = arenas,
                  .needed_bytes = arenas,
                  .step_seconds = objective.goal == Goal::kLatency
                                      ? plan.prediction.latency_seconds
                                      : plan.prediction.step_seconds});
}

absl::StatusOr<BestPlan> TryOne(Compilation& compilation,
                                const Planner& planner,
                                const ObjectiveChoice& objective) {
  BestPlan plan;
  PARTITA_ASSIGN_OR_RETURN(plan.attempt, compilation.Try(planner));
  if (!plan.attempt.repeats.empty()) return plan;
  PARTITA_ASSIGN_OR_RETURN(plan.prediction, compilation.Predict(plan.attempt));
  plan.score = Score(plan, objective);
  return plan;
}

double BusiestSeconds(const Prediction& prediction) {
  double seconds = 0;
  for (const std::vector<double>& busy : prediction.busy_seconds) {
    seconds += busy.empty() ? 0 : *absl::c_max_element(busy);
  }
  return seconds;
}

// Copies the prediction of the strategy that had the same plan.
void TakeOver(const CompileReport& report, const std::string& strategy,
              Candidate& candidate) {
  const Candidate& same = *absl::c_find_if(
      report.candidates,
      [&](const Candidate& before) { return before.strategy == strategy; });
  candidate.step_seconds = same.step_seconds;
  candidate.latency_seconds = same.latency_seconds;
  candidate.busiest_seconds = same.busiest_seconds;
}

// One refusal, and all strategies with it.
struct Refused {
  std::vector<std::string> strategies;
  absl::Status status;
};

void Add(std::vector<Refused>& refusals, const std::string& strategy,
         const absl::Status& status) {
  auto same = absl::c_find_if(refusals, [&](const Refused& refused) {
    return refused.status == status;
  });
  if (same == refusals.end()) {
    same = refusals.insert(refusals.end(), Refused{{}, status});
  }
  same->strategies.push_back(strategy);
}

// An error of the request, which all strategies refuse alike, is reported
// alone.
absl::Status NothingFits(const std::vector<Refused>& refusals) {
  if (refusals.size() == 1) return refusals[0].status;
  std::string text = "found no strategy whose plan fits this machine:";
  std::optional<MemoryShortage> least;
  for (const Refused& refused : refusals) {
    absl::StrAppend(&text, "\n  ", absl::StrJoin(refused.strategies, ", "),
                    ": ", refused.status.message());
    const std::optional<MemoryShortage> shortage = ShortageOf(refused.status);
    if (!shortage.has_value()) continue;
    if (!least.has_value() || shortage->missing() < least->missing()) {
      least = shortage;
      least->strategy = refused.strategies[0];
    }
  }
  absl::Status status(refusals[0].status.code(), text);
  if (least.has_value()) SetShortage(*least, status);
  return status;
}

}  // namespace

absl::StatusOr<BestPlan> TryStrategies(Compilation& compilation,
                                       absl::Span<const Planner> planners,
                                       const ObjectiveChoice& objective) {
  CompileReport& report = compilation.report();
  std::optional<BestPlan> best;
  std::vector<Refused> refusals;
  for (const Planner& planner : planners) {
    Candidate& candidate = report.candidates.emplace_back();
    candidate.strategy = planner.name;
    absl::StatusOr<BestPlan> plan = TryOne(compilation, planner, objective);
    if (!plan.ok()) {
      candidate.refusal = std::string(plan.status().message());
      Add(refusals, planner.name, plan.status());
      continue;
    }
    if (!plan->attempt.repeats.empty()) {
      TakeOver(report, plan->attempt.repeats, candidate);
      continue;
    }
    candidate.step_seconds = plan->prediction.step_seconds;
    candidate.latency_seconds = plan->prediction.latency_seconds;
    candidate.busiest_seconds = BusiestSeconds(plan->prediction);
    if (best.has_value() &&
        !IsBetter(plan->score, best->score, planner.least_gain)) {
      continue;
    }
    report.strategy = planner.name;
    best.emplace(*std::move(plan));
  }
  if (!best.has_value()) return NothingFits(refusals);
  return *std::move(best);
}

}  // namespace partita
