// Predicts candidate orders and keeps the fastest.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/launch_order.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"
#include "placement/lower/clocks.h"
#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/emit.h"
#include "placement/lower/schedule.h"
#include "placement/lower/timed_order.h"
#include "placement/lower/updates.h"
#include "placement/lower/urgency.h"

namespace partita {
namespace {

// Drops streams without tasks and sorts the others by device.
void SortStreams(PlanDraft& draft) {
  std::map<StreamKey, StreamId> ids;
  for (const Task& task : draft.tasks) ids[draft.streams[task.stream]];
  StreamTable sorted;
  for (auto& [key, id] : ids) id = sorted.Of(key);
  for (Task& task : draft.tasks) {
    task.stream = ids.at(draft.streams[task.stream]);
  }
  draft.streams = std::move(sorted);
}

PlanDraft InOrder(PlanDraft draft, const TaskOrder& order) {
  IdVector<TaskId, Task> tasks;
  for (TaskId task : order) tasks.Add(std::move(draft.tasks[task]));
  draft.tasks = std::move(tasks);
  WriteUpdatesInPlace(draft);
  SortStreams(draft);
  return draft;
}

// An order with its prediction.
struct PredictedOrder {
  PlanDraft draft;  // in this order
  PredictedStep predicted;
};

// Tries candidates in turn and keeps the fastest.
class FastestOrder {
 public:
  FastestOrder(const PlanDraft& draft, const OrderRequest& request)
      : draft_(draft), request_(request) {}

  // False if the order cannot be predicted.
  bool Try(const TaskOrder& order) {
    PredictedOrder candidate{InOrder(draft_, order), {}};
    std::optional<PredictedStep> predicted = Predict(candidate.draft);
    if (!predicted.has_value()) return false;
    candidate.predicted = *std::move(predicted);
    ++tried_;
    if (!best_.has_value() || IsFaster(candidate, *best_)) {
      best_ = std::move(candidate);
      best_number_ = tried_;
    }
    return true;
  }

  // By task of the draft without order: its seconds in the best order so far.
  IdVector<TaskId, double> Seconds() const {
    const std::vector<double> by_graph_order = SecondsByGraphOrder();
    IdVector<TaskId, double> seconds;
    for (const Task& task : draft_.tasks) {
      seconds.Add(by_graph_order[task.graph_order]);
    }
    return seconds;
  }

  OrderedDraft Take() && {
    return {std::move(best_->draft), best_number_ == 1,
            best_->predicted.step_seconds};
  }

 private:
  // By more than rounding.
  static bool IsFaster(const PredictedOrder& a, const PredictedOrder& b) {
    return a.predicted.step_seconds < b.predicted.step_seconds * (1 - 1e-9);
  }

  std::optional<PredictedStep> Predict(const PlanDraft& ordered) const {
    if (request_.depth > 1 && !CheckUpdatesOverlap(ordered).ok()) {
      return std::nullopt;
    }
    IdVector<MachineDeviceId, DeviceId> devices;
    for (MachineDeviceId device : ordered.devices->names.ids()) {
      devices.Add(DeviceId(device.index));
    }
    Entry entry = Emit(ordered, ClocksOf(ordered), devices);
    entry.depth = request_.depth;
    return request_.predict(std::move(entry));
  }

  // 0 for copies of updates that are written in place.
  std::vector<double> SecondsByGraphOrder() const {
    std::vector<double> seconds(draft_.tasks.size(), 0);
    auto predicted = best_->predicted.command_seconds.begin();
    for (const Task& task : best_->draft.tasks) {
      seconds[task.graph_order] = *predicted++;
    }
    return seconds;
  }

  const PlanDraft& draft_;
  const OrderRequest& request_;
  std::optional<PredictedOrder> best_;
  int best_number_ = 0;  // from 1
  int tried_ = 0;
};

bool IsPort(const Task& task) {
  return task.kind == Command::Kind::kFeed ||
         task.kind == Command::Kind::kFetch;
}

// Its commands run in sequence, in any order; some beside feeds and fetches,
// which each order has as early as can be.
bool HasOneStream(const PlanDraft& draft) {
  const auto one = absl::c_find_if(
      draft.tasks, [&](const Task& task) { return !IsPort(task); });
  return absl::c_all_of(draft.tasks, [&](const Task& task) {
    return IsPort(task) || task.stream == one->stream;
  });
}

DelayedAllReduces DelayedFor(DraftGoal goal) {
  return goal == DraftGoal::kSmall ? DelayedAllReduces::kInComputeStreams
                                   : DelayedAllReduces::kAll;
}

// When fetches run, in the orders by start times.
std::vector<FetchTime> FetchTimes(const PlanDraft& draft) {
  if (draft.tasks.size() > kManyTasks) return {FetchTime::kLast};
  return {FetchTime::kLast, FetchTime::kEarly};
}

// A prediction takes about as long as all else that lowering does.
bool IsWorthPredicting(const PlanDraft& draft, size_t memory_orders) {
  const size_t tasks = draft.tasks.size();
  if (tasks > kMostPredictedTasks) return false;
  return tasks <= kManyTasks || memory_orders > 1;
}

}  // namespace

absl::StatusOr<OrderedDraft> PutInLaunchOrder(PlanDraft draft,
                                              const OrderRequest& request) {
  if (draft.tasks.empty()) return OrderedDraft{InOrder(std::move(draft), {})};
  const Dependence dependence = FindDependence(draft);
  const IdVector<TaskId, Urgency> urgency =
      FindUrgency(draft, dependence, DelayedFor(request.goal));
  PARTITA_ASSIGN_OR_RETURN(const std::vector<TaskOrder> orders,
                           MemoryOrders(draft, dependence, urgency));
  FastestOrder fastest(draft, request);
  const bool is_predicted = IsWorthPredicting(draft, orders.size()) &&
                            request.predict != nullptr &&
                            fastest.Try(orders[0]);
  if (!is_predicted) {
    return OrderedDraft{InOrder(std::move(draft), orders[0])};
  }
  const bool is_done = request.goal != DraftGoal::kFast || HasOneStream(draft);
  if (is_done) return std::move(fastest).Take();
  const IdVector<TaskId, double> seconds = fastest.Seconds();
  if (draft.tasks.size() <= kManyTasks) {
    for (size_t i = 1; i < orders.size(); ++i) fastest.Try(orders[i]);
  }
  for (FetchTime fetches : FetchTimes(draft)) {
    fastest.Try(TimedOrder(draft, dependence, urgency, seconds, fetches));
  }
  return std::move(fastest).Take();
}

}  // namespace partita
