// How good a draft is for an objective.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DRAFT_SCORE_H_
#define PARTITA_PLACEMENT_PLANNER_DRAFT_SCORE_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "placement/planner/planner.h"

namespace partita {

// Less is better, in the order of the fields.
struct DraftScore {
  int64_t missing = 0;  // bytes on the device that lacks most; 0: it fits
  // For Goal::kMemory: the seconds beyond Objective::most_step_seconds, and the
  // bytes on the device that needs most.
  double late = 0;
  int64_t bytes = 0;
  double seconds = 0;  // of a step, as the goal counts it

  friend auto operator<=>(const DraftScore&, const DraftScore&) = default;
};

// Of what cannot run, or is forbidden: worse than what lacks memory.
inline constexpr DraftScore kNoDraft = {
    .missing = std::numeric_limits<int64_t>::max(),
    .seconds = std::numeric_limits<double>::infinity()};

// Bytes by machine device: what a draft may take, and what it needs.
// `step_seconds` as in PredictedDraft.
struct DraftFigure {
  absl::Span<const int64_t> limits;
  absl::Span<const int64_t> needed_bytes;
  double step_seconds = 0;
};
DraftScore ScoreOf(const Objective& objective, const DraftFigure& figure);

// True if `a` saves more than rounding does, or this share of what is compared.
bool IsBetter(const DraftScore& a, const DraftScore& b,
              double least_gain = 1e-6);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DRAFT_SCORE_H_
