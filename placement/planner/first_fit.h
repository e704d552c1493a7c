// The choice among a strategy's drafts, by the memory that they need.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_FIRST_FIT_H_
#define PARTITA_PLACEMENT_PLANNER_FIRST_FIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// Takes drafts in the order in which the strategy prefers them. Keeps the first
// that fits or, before there is one, the draft that misses least.
class FirstFit {
 public:
  // `limits`: bytes by machine device. The request must outlive it.
  FirstFit(const PlanRequest& request, std::vector<int64_t> limits);
  // With all memory of the machine.
  explicit FirstFit(const PlanRequest& request);

  // True if the draft has all links, can be lowered and fits; then offer no
  // more.
  bool Offer(Draft draft);

  // True if such a draft was offered, whether it fits or not; or any draft.
  bool has_draft() const { return draft_.has_value(); }
  bool was_offered() const { return has_draft() || !fault_.ok(); }
  // The draft, or the first fault if there is none. Needs: an offer.
  absl::StatusOr<Draft> Take();

 private:
  const PlanRequest& request_;
  const std::vector<int64_t> limits_;
  std::optional<Draft> draft_;
  int64_t missing_ = 0;  // bytes, on the device that lacks most
  absl::Status fault_;   // of the first that cannot be lowered
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_FIRST_FIT_H_
