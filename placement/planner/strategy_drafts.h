// The drafts of all strategies that a search starts from.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STRATEGY_DRAFTS_H_
#define PARTITA_PLACEMENT_PLANNER_STRATEGY_DRAFTS_H_

#include <vector>

#include "placement/planner/placement_draft.h"

namespace partita {

// What each strategy that lowers few drafts, and that auto would try, makes of
// the request, in its rounds within memory (MemoryRounds), in auto's order: the
// draft that fits or misses least. Computing nodes have the reason kSearched.
// Leaves out what a strategy refuses, what cannot be lowered and what breaks a
// constraint. Once the time is over, no more strategies are asked.
std::vector<Draft> StrategyDrafts(const PlanRequest& request);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STRATEGY_DRAFTS_H_
