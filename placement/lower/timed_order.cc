// List scheduling by earliest start (Graham 1966), ranked by the longest path.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/timed_order.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace partita {
namespace {

// The tasks of a collective are one unit: its first task stands for them.
class TimedLister {
 public:
  TimedLister(const PlanDraft& draft, const Dependence& dependence,
              const IdVector<TaskId, Urgency>& urgency,
              const IdVector<TaskId, double>& seconds, FetchTime fetches)
      : draft_(draft),
        dependence_(dependence),
        urgency_(urgency),
        fetches_(fetches),
        units_(draft.tasks.size(), IdRange<TaskId>(0)),
        seconds_(draft.tasks.size(), 0),
        rank_(draft.tasks.size(), 0),
        ready_at_(draft.tasks.size(), 0),
        missing_(draft.tasks.size(), 0),
        free_at_(draft.streams.size(), 0) {
    for (const IdRange<TaskId>& unit : draft.TasksByCollective()) {
      units_[unit.front()] = unit;
      for (TaskId task : unit) {
        seconds_[unit.front()] =
            std::max(seconds_[unit.front()], seconds[task]);
      }
    }
  }

  TaskOrder List() {
    Rank();
    for (TaskId task : draft_.tasks.ids()) {
      if (IsUnit(task) && missing_[task] == 0) Push(task);
    }
    while (!ready_.empty()) {
      const auto [key, task] = ready_.top();
      ready_.pop();
      // A stream may have become busy since the unit was queued.
      const Key now = KeyOf(task);
      if (now > key && !ready_.empty() && now > ready_.top().first) {
        ready_.push({now, task});
        continue;
      }
      Take(task);
    }
    return std::move(order_);
  }

 private:
  // Lower is better: unit run, urgency, start, rank, order of the graph.
  using Key = std::tuple<int, Urgency, double, double, int>;
  using Entry = std::pair<Key, TaskId>;

  bool IsUnit(TaskId task) const {
    return dependence_.first_of_collective[task] == task;
  }

  // A unit is ranked when all of its readers are.
  void Rank() {
    IdVector<TaskId, size_t> unranked(draft_.tasks.size(), 0);
    std::vector<TaskId> ranked;
    for (TaskId task : draft_.tasks.ids()) {
      missing_[task] = dependence_.before[task].size();
      for (TaskId next : units_[task]) {
        unranked[task] += dependence_.after[next].size();
      }
      if (IsUnit(task) && unranked[task] == 0) ranked.push_back(task);
    }
    while (!ranked.empty()) {
      const TaskId task = ranked.back();
      ranked.pop_back();
      rank_[task] += seconds_[task];
      for (TaskId other : dependence_.before[task]) {
        const TaskId before = dependence_.first_of_collective[other];
        rank_[before] = std::max(rank_[before], rank_[task]);
        if (--unranked[before] == 0) ranked.push_back(before);
      }
    }
  }

  double StartOf(TaskId unit) const {
    double start = ready_at_[unit];
    for (TaskId task : units_[unit]) {
      start = std::max(start, free_at_[draft_.tasks[task].stream]);
    }
    return start;
  }

  Urgency UrgencyOf(TaskId task) const {
    const bool is_early_fetch =
        urgency_[task] == Urgency::kOfFetches && fetches_ == FetchTime::kEarly;
    return is_early_fetch ? Urgency::kOfKernels : urgency_[task];
  }

  Key KeyOf(TaskId task) const {
    return {draft_.tasks[task].unit_run, UrgencyOf(task), StartOf(task),
            -rank_[task], draft_.tasks[task].graph_order};
  }

  void Push(TaskId task) { ready_.push({KeyOf(task), task}); }

  void Take(TaskId unit) {
    const double end = StartOf(unit) + seconds_[unit];
    for (TaskId task : units_[unit]) {
      free_at_[draft_.tasks[task].stream] = end;
      order_.push_back(task);
    }
    for (TaskId task : units_[unit]) {
      for (TaskId next : dependence_.after[task]) {
        ready_at_[next] = std::max(ready_at_[next], end);
        if (--missing_[next] == 0) Push(next);
      }
    }
  }

  const PlanDraft& draft_;
  const Dependence& dependence_;
  const IdVector<TaskId, Urgency>& urgency_;
  const FetchTime fetches_;
  // By first task; empty for the other ranks of a collective.
  IdVector<TaskId, IdRange<TaskId>> units_;
  IdVector<TaskId, double> seconds_;
  IdVector<TaskId, double> rank_;
  IdVector<TaskId, double> ready_at_;
  IdVector<TaskId, size_t> missing_;  // tasks before it, not yet listed
  IdVector<StreamId, double> free_at_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready_;
  TaskOrder order_;
};

}  // namespace

TaskOrder TimedOrder(const PlanDraft& draft, const Dependence& dependence,
                     const IdVector<TaskId, Urgency>& urgency,
                     const IdVector<TaskId, double>& seconds,
                     FetchTime fetches) {
  return TimedLister(draft, dependence, urgency, seconds, fetches).List();
}

}  // namespace partita
