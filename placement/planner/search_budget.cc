// The evaluations of a search.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_budget.h"

#include <algorithm>

namespace partita {
namespace {

constexpr int64_t kMostEvaluations = 40'000;
constexpr int64_t kEvaluatedNodes = 1'000'000;

}  // namespace

int64_t EvaluationsFor(const PlannerOptions& options, int64_t nodes) {
  return options.evaluations.value_or(
      std::clamp(kEvaluatedNodes / std::max<int64_t>(1, nodes),
                 kLeastEvaluations, kMostEvaluations));
}

ClimbBudget ClimbBudgetFor(int64_t evaluations, int64_t seeds) {
  const int64_t shared = evaluations * 3 / 4;
  const int64_t climbs =
      std::clamp<int64_t>(shared / kLeastClimb, 1, std::max<int64_t>(1, seeds));
  return {climbs, shared / climbs};
}

}  // namespace partita
