// How much a search tries.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_

#include <cstdint>

#include "placement/planner/strategies.h"

namespace partita {

inline constexpr int64_t kLeastEvaluations = 16;
// The drafts that are estimated for each one that is lowered and simulated.
inline constexpr int64_t kEvaluationsPerLowering = 64;

// How many drafts of a graph are estimated: what the user chose, or fewer for
// more nodes.
int64_t EvaluationsFor(const PlannerOptions& options, int64_t nodes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_BUDGET_H_
