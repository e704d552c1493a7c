// Judges drafts by lowering and simulating them, and keeps the best.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_DRAFT_JUDGE_H_
#define PARTITA_PLACEMENT_PLANNER_DRAFT_JUDGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/planner/draft_score.h"
#include "placement/planner/placement_draft.h"

namespace partita {

class DraftJudge {
 public:
  // The request must outlive it. Without Objective::predict it judges nothing.
  explicit DraftJudge(const PlanRequest& request);

  // Adds to the drafts that may be lowered.
  void Allow(int64_t lowerings);
  // The first draft is lowered even if the time is over.
  bool is_open() const;

  // True if the draft is the best so far.
  bool Offer(Draft draft);

  std::optional<Draft>& best() { return best_; }

 private:
  void Report() const;
  // Nothing if a link is missing, or if it cannot be lowered.
  std::optional<DraftScore> Score(const Draft& draft) const;

  const PlanRequest& request_;
  std::vector<int64_t> usable_;  // by machine device: bytes
  int64_t left_ = 0;
  int64_t lowered_ = 0;
  std::optional<Draft> best_;
  DraftScore score_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_DRAFT_JUDGE_H_
