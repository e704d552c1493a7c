// Scores by memory and time.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/draft_score.h"

#include <algorithm>
#include <cstddef>

namespace partita {

DraftScore ScoreOf(const Objective& objective, const DraftFigure& figure) {
  DraftScore score{.seconds = figure.step_seconds};
  for (size_t d = 0; d < figure.limits.size(); ++d) {
    const int64_t needed = figure.needed_bytes[d];
    score.missing = std::max(score.missing, needed - figure.limits[d]);
    if (objective.goal != Goal::kMemory) continue;
    score.bytes = std::max(score.bytes, needed);
  }
  const bool is_late = objective.goal == Goal::kMemory &&
                       score.seconds > objective.most_step_seconds;
  if (is_late) score.late = score.seconds - objective.most_step_seconds;
  return score;
}

bool IsBetter(const DraftScore& a, const DraftScore& b, double least_gain) {
  if (a.missing != b.missing) return a.missing < b.missing;
  if (a.late != b.late) return a.late < b.late * (1 - least_gain);
  if (a.bytes != b.bytes) {
    return static_cast<double>(a.bytes) <
           static_cast<double>(b.bytes) * (1 - least_gain);
  }
  return a.seconds < b.seconds * (1 - least_gain);
}

}  // namespace partita
