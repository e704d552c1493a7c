// Chooses the launch order of a function.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LAUNCH_ORDER_H_
#define PARTITA_PLACEMENT_LOWER_LAUNCH_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/step_predictor.h"

namespace partita {

// What a draft of a function is made for. Each takes at most the memory of the
// one before, as a rule.
enum class DraftGoal : uint8_t {
  kFast,       // the order that is predicted fastest
  kLeastPeak,  // the order with the smallest peak of live bytes
  // The same, and readers of all-reduces in their own streams are not delayed:
  // gradients are freed sooner. Inputs and outputs have no streams of their own
  // (PortStreams).
  kSmall,
};

struct OrderRequest {
  DraftGoal goal = DraftGoal::kFast;
  const StepPredictor& predict;  // may be empty
  int depth = 1;                 // steps that overlap
};

struct OrderedDraft {
  PlanDraft draft;
  // False only for kFast: another order has a smaller peak.
  bool least_peak = true;
  // Nothing if no order was predicted.
  std::optional<double> step_seconds;
};

// Puts the tasks into launch order, writes updates in place and drops streams
// without tasks. Candidates are the memory orders (schedule.h) and, with a
// predictor, orders by the start times that follow from the prediction of the
// first (timed_order.h). Ties go to the earlier candidate, so to less memory.
// Of more than kManyTasks tasks two orders are predicted: the one with the
// least peak, and one by start times; none if all memory orders agree, or if
// there are more than kMostPredictedTasks. Needs: tasks. Errors: as
// MemoryOrders.
absl::StatusOr<OrderedDraft> PutInLaunchOrder(PlanDraft draft,
                                              const OrderRequest& request);

inline constexpr size_t kManyTasks = 1024;
inline constexpr size_t kMostPredictedTasks = 32768;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LAUNCH_ORDER_H_
