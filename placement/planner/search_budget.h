// How much a search tries.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_

#include <cstdint>

#include "placement/planner/strategies.h"

namespace partita {

inline constexpr int64_t kLeastEvaluations = 16;
// The drafts that are estimated for each one that is lowered and simulated.
inline constexpr int64_t kEvaluationsPerLowering = 256;

// With fewer evaluations a climb is hardly one.
inline constexpr int64_t kLeastClimb = 8;

// How many drafts of a graph are estimated: what the user chose, or fewer for
// more nodes.
int64_t EvaluationsFor(const PlannerOptions& options, int64_t nodes);

// The seeds that climb, at least one, and the evaluations of each.
struct ClimbBudget {
  int64_t climbs = 1;
  int64_t evaluations = 0;
};
// Three quarters of the evaluations, for all seeds, or for so few that each has
// kLeastClimb.
ClimbBudget ClimbBudgetFor(int64_t evaluations, int64_t seeds);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_
