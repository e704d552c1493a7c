// List scheduling for early transfers and little live memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/schedule.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "placement/lower/live_bytes.h"

namespace partita {
namespace {

// The order with the least peak memory is NP-hard to find (Sethi 1975, for
// registers). List scheduling (Graham 1966) by a rule is fast, and no rule is
// best for all graphs, so several are tried.
enum class Rule {
  kGraphOrder,   // the order of the graph
  kDepthFirst,   // what became ready last runs first
  kLeastGrowth,  // what allocates least and frees most runs first
};

struct Order {
  TaskOrder tasks;
  int64_t peak = 0;
};

// Lower is better: unit run, urgency, measure of the rule, order of the graph.
using Key = std::tuple<int, Urgency, int64_t, int>;

class Lister {
 public:
  Lister(const PlanDraft& draft, const Dependence& dependence,
         const IdVector<TaskId, Urgency>& urgency)
      : draft_(draft),
        dependence_(dependence),
        urgency_(urgency),
        none_live_(draft) {}

  // Lists all tasks by key, then delays feeds. Keys are computed when a task
  // becomes ready and again when it is taken; a task whose key has grown worse
  // is put back.
  Order List(Rule rule) const;

 private:
  Key KeyOf(const LiveBytes& live, Rule rule, TaskId task,
            int64_t ready_at) const;
  // Moves each feed right before its first reader, so that it takes memory as
  // late as possible. A feed of all micro-batches stays before them.
  void DelayFeeds(Order& order) const;
  bool IsFeedOfUnitRun(TaskId task) const;

  const PlanDraft& draft_;
  const Dependence& dependence_;
  const IdVector<TaskId, Urgency>& urgency_;
  const LiveBytes none_live_;  // before the first task
};

Key Lister::KeyOf(const LiveBytes& live, Rule rule, TaskId task,
                  int64_t ready_at) const {
  const Task& t = draft_.tasks[task];
  const int64_t measure = rule == Rule::kLeastGrowth  ? live.Growth(task)
                          : rule == Rule::kDepthFirst ? -ready_at
                                                      : 0;
  return {t.unit_run, urgency_[task], measure, t.graph_order};
}

Order Lister::List(Rule rule) const {
  LiveBytes live = none_live_;
  using Entry = std::pair<Key, TaskId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  const IdVector<TaskId, TaskId>& first_of_collective =
      dependence_.first_of_collective;
  const int num_tasks = static_cast<int>(draft_.tasks.size());
  IdVector<TaskId, size_t> missing(draft_.tasks.size());
  for (TaskId task : draft_.tasks.ids()) {
    missing[task] = dependence_.before[task].size();
    if (missing[task] > 0 || first_of_collective[task] != task) continue;
    ready.push({KeyOf(live, rule, task, 0), task});
  }
  Order order;
  int64_t num_taken = 0;
  while (!ready.empty()) {
    const auto [key, task] = ready.top();
    ready.pop();
    // Growth changes as other tasks run, so a key in the queue may be old. Keys
    // are checked when they come up, which is cheaper than an update of all
    // ready tasks after each one.
    if (rule == Rule::kLeastGrowth) {
      const Key now = KeyOf(live, rule, task, num_taken);
      if (now > key && !ready.empty() && now > ready.top().first) {
        ready.push({now, task});
        continue;
      }
    }
    ++num_taken;
    // Later steps rely on the ranks of a collective being adjacent: no task
    // between two of them can wait for one and be needed by another.
    for (TaskId i = task; i.index < num_tasks && first_of_collective[i] == task;
         ++i.index) {
      live.Start(i);
      live.End(i);
      order.tasks.push_back(i);
      for (TaskId next : dependence_.after[i]) {
        if (--missing[next] > 0) continue;
        ready.push({KeyOf(live, rule, next, num_taken), next});
      }
    }
  }
  DelayFeeds(order);
  return order;
}

bool Lister::IsFeedOfUnitRun(TaskId task) const {
  const Task& t = draft_.tasks[task];
  return t.kind == Command::Kind::kFeed &&
         (draft_.unit_runs.empty() || !draft_.unit_runs[t.unit_run].empty());
}

void Lister::DelayFeeds(Order& order) const {
  TaskOrder delayed;
  // A feed depends on nothing, so every rule lists it early, and its bytes
  // would be live from then on.
  IdVector<TaskId, bool> placed(draft_.tasks.size(), false);
  for (TaskId task : order.tasks) {
    if (IsFeedOfUnitRun(task)) continue;
    for (TaskId before : dependence_.before[task]) {
      if (!IsFeedOfUnitRun(before) || placed[before]) continue;
      placed[before] = true;
      delayed.push_back(before);
    }
    delayed.push_back(task);
  }
  for (TaskId task : order.tasks) {
    if (IsFeedOfUnitRun(task) && !placed[task]) delayed.push_back(task);
  }
  LiveBytes live = none_live_;
  for (TaskId task : delayed) {
    live.Start(task);
    live.End(task);
  }
  order.tasks = std::move(delayed);
  order.peak = live.peak();
}

}  // namespace

absl::StatusOr<std::vector<TaskOrder>> MemoryOrders(
    const PlanDraft& draft, const Dependence& dependence,
    const IdVector<TaskId, Urgency>& urgency) {
  const Lister lister(draft, dependence, urgency);
  std::vector<Order> orders;
  for (Rule rule : {Rule::kGraphOrder, Rule::kDepthFirst, Rule::kLeastGrowth}) {
    Order order = lister.List(rule);
    if (order.tasks.size() != draft.tasks.size()) {
      return absl::InternalError(
          "bug: lowering found commands that wait for each other");
    }
    const bool is_new = absl::c_none_of(
        orders, [&](const Order& other) { return other.tasks == order.tasks; });
    if (is_new) orders.push_back(std::move(order));
  }
  // A strictly smaller peak is needed to leave the order of the graph, which
  // its author knows.
  absl::c_stable_sort(
      orders, [](const Order& a, const Order& b) { return a.peak < b.peak; });
  std::vector<TaskOrder> tasks;
  for (Order& order : orders) tasks.push_back(std::move(order.tasks));
  return tasks;
}

}  // namespace partita
