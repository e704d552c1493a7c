// Asks for predictions of drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/draft_judge.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace partita {

DraftJudge::DraftJudge(const PlanRequest& request) : request_(request) {
  for (const MachineDevice& device : request.costs.machine().devices) {
    usable_.push_back(device.usable());
  }
}

void DraftJudge::Allow(int64_t lowerings) {
  if (request_.objective.predict) left_ += lowerings;
}

bool DraftJudge::is_open() const {
  const Objective& objective = request_.objective;
  const bool time_is_over = objective.is_time_over && objective.is_time_over();
  return left_ > 0 && !(best_.has_value() && time_is_over);
}

bool DraftJudge::Offer(Draft draft) {
  if (!is_open()) return false;
  --left_;
  ++lowered_;
  Report();
  const std::optional<DraftScore> score = Score(draft);
  if (!score.has_value()) return false;
  if (best_.has_value() && !IsBetter(*score, score_)) return false;
  best_ = std::move(draft);
  score_ = *score;
  return true;
}

void DraftJudge::Report() const {
  if (!request_.objective.progress) return;
  std::string text = absl::StrCat("search, draft ", lowered_);
  if (best_.has_value()) {
    absl::StrAppendFormat(&text, ", best %.3g ms a step", score_.seconds * 1e3);
  }
  request_.objective.progress(text);
}

std::optional<DraftScore> DraftJudge::Score(const Draft& draft) const {
  if (!CheckLinks(request_, draft).ok()) return std::nullopt;
  const absl::StatusOr<PredictedDraft> predicted =
      request_.objective.predict(PlacementsOf(request_, draft));
  if (!predicted.ok()) return std::nullopt;
  return ScoreOf(request_.objective,
                 {usable_, predicted->needed_bytes, predicted->step_seconds});
}

}  // namespace partita
