// Strategy `auto`: tries strategies and keeps the best plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BEST_STRATEGY_H_
#define PARTITA_PARTITA_BEST_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partita/compilation.h"
#include "partita/predict.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/objective_choice.h"
#include "placement/planner/planner.h"

namespace partita {

struct BestPlan {
  Attempt attempt;
  Prediction prediction;
  DraftScore score;  // for the objective; nothing is missing
};

// The best of these strategies' plans; among equals the earlier, simpler
// strategy's (Planner::least_gain). Fills in the report's strategy and
// candidates. If none fits: the refusals, equal ones once; if some lack memory,
// with the smallest shortage as ShortageOf.
absl::StatusOr<BestPlan> TryStrategies(Compilation& compilation,
                                       absl::Span<const Planner> planners,
                                       const ObjectiveChoice& objective);

}  // namespace partita

#endif  // PARTITA_PARTITA_BEST_STRATEGY_H_
