// Compares each strategy's steps with one another and with the best one.
// SPDX-License-Identifier: Apache-2.0

#include "partita/gaining_strategies.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace partita {

GainingStrategies::GainingStrategies(std::vector<Planner> planners,
                                     const ObjectiveChoice& objective)
    : objective_(objective), planners_(std::move(planners)) {}

bool GainingStrategies::MayGain(const Candidate& tried, double most_seconds) {
  if (!tried.refusal.empty()) return true;
  const double seconds = objective_.goal == Goal::kLatency
                             ? tried.latency_seconds
                             : tried.step_seconds;
  const auto [before, is_first] = seconds_.try_emplace(tried.strategy, seconds);
  const bool is_faster = is_first || seconds < before->second;
  before->second = seconds;
  return is_faster && tried.busiest_seconds < most_seconds;
}

void GainingStrategies::Narrow(absl::Span<const Candidate> tried,
                               double most_seconds) {
  if (objective_.goal == Goal::kMemory) return;
  std::vector<Planner> gaining;  // planners cannot be assigned
  for (const Planner& planner : planners_) {
    const auto candidate = absl::c_find_if(tried, [&](const Candidate& other) {
      return other.strategy == planner.name;
    });
    const bool may_gain =
        candidate == tried.end() || MayGain(*candidate, most_seconds);
    if (may_gain) gaining.push_back(planner);
  }
  planners_.swap(gaining);
}

}  // namespace partita
