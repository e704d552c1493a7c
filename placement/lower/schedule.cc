// List scheduling for early copies and little live memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/schedule.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "placement/lower/deferral.h"
#include "placement/lower/dependencies.h"

namespace partita {
namespace {

enum class Rule {
  kGraphOrder,   // as the graph has them
  kDepthFirst,   // what became ready last goes first
  kLeastGrowth,  // what allocates least and frees most goes first
};

// Live bytes by device, one command at a time.
class MemoryCount {
 public:
  explicit MemoryCount(const PlanDraft& draft)
      : draft_(draft),
        pending_(draft.storages.size(), 0),
        live_(draft.storages.size(), false),
        bytes_(draft.devices->names.size(), 0),
        peaks_(draft.devices->names.size(), 0) {
    for (const Task& task : draft.tasks) {
      for (int storage : Storages(task)) ++pending_[storage];
    }
  }

  // What running the task now would add, less what it would free.
  int64_t Growth(const Task& task) const {
    int64_t growth = 0;
    for (int storage : Storages(task)) {
      const int64_t bytes = draft_.storages[storage].bytes;
      if (!live_[storage]) growth += bytes;
      if (pending_[storage] == 1) growth -= bytes;
    }
    return growth;
  }

  void Run(const Task& task) {
    const std::vector<int> storages = Storages(task);
    for (int storage : storages) {
      if (live_[storage]) continue;
      live_[storage] = true;
      Add(storage, draft_.storages[storage].bytes);
    }
    for (int storage : storages) {
      if (--pending_[storage] == 0) {
        Add(storage, -draft_.storages[storage].bytes);
      }
    }
  }

  int64_t Peak() const {
    return *std::max_element(peaks_.begin(), peaks_.end());
  }

 private:
  // Each storage of the step part once.
  std::vector<int> Storages(const Task& task) const {
    std::vector<int> storages;
    auto add = [&](int storage) {
      if (storage >= 0 && !draft_.storages[storage].persistent()) {
        storages.push_back(storage);
      }
    };
    for (const Touch& t : task.reads) add(draft_.pieces[t.piece].storage);
    for (const Touch& t : task.writes) add(draft_.pieces[t.piece].storage);
    add(task.workspace);
    std::sort(storages.begin(), storages.end());
    storages.erase(std::unique(storages.begin(), storages.end()),
                   storages.end());
    return storages;
  }

  void Add(int storage, int64_t bytes) {
    const int device = draft_.storages[storage].device;
    bytes_[device] += bytes;
    peaks_[device] = std::max(peaks_[device], bytes_[device]);
  }

  const PlanDraft& draft_;
  std::vector<int> pending_;
  std::vector<bool> live_;
  std::vector<int64_t> bytes_;
  std::vector<int64_t> peaks_;
};

struct Order {
  std::vector<int> tasks;
  int64_t peak = 0;
};

// What goes first of all that is ready in a turn.
enum class Urgency : uint8_t {
  kOfOtherStreams,  // copies and collectives beside kernels
  kOfKernels,
  // FindDeferred. First what need wait no longer, so that a sum, or a
  // variable's new share, is read while the caches hold it, and then the next
  // sum.
  kAfterMeetings,
  kMeetings,
  kOfFetches,
};

// Lower is better: the turn, the urgency, then the rule's measure, then the
// graph's order.
using Key = std::tuple<int, Urgency, int64_t, int>;

class Lister {
 public:
  Lister(const PlanDraft& draft, const Dependence& dependence,
         DeferredSums sums)
      : draft_(draft),
        dependence_(dependence),
        deferred_(FindDeferred(draft, dependence, sums)) {}

  // Keys are computed when a task becomes ready and again when it is taken: a
  // task whose key has grown worse meanwhile waits once more.
  Order List(Rule rule) const;

 private:
  bool WritesVariable(const Task& task) const;
  Urgency UrgencyOf(int task) const;
  Key KeyOf(const MemoryCount& memory, Rule rule, int task, int64_t turn) const;

  const PlanDraft& draft_;
  const Dependence& dependence_;
  const std::vector<bool> deferred_;
};

bool Lister::WritesVariable(const Task& task) const {
  return absl::c_any_of(task.writes, [&](const Touch& touch) {
    return draft_.storages[draft_.pieces[touch.piece].storage].persistent();
  });
}

Urgency Lister::UrgencyOf(int task) const {
  const Task& t = draft_.tasks[task];
  if (!draft_.Computes(t)) return Urgency::kOfOtherStreams;
  if (t.kind == Command::Kind::kFetch) return Urgency::kOfFetches;
  if (!deferred_[task]) return Urgency::kOfKernels;
  return t.kind == Command::Kind::kCollective && !WritesVariable(t)
             ? Urgency::kMeetings
             : Urgency::kAfterMeetings;
}

Key Lister::KeyOf(const MemoryCount& memory, Rule rule, int task,
                  int64_t turn) const {
  const Task& t = draft_.tasks[task];
  const Urgency urgency = UrgencyOf(task);
  const int64_t measure = rule == Rule::kLeastGrowth  ? memory.Growth(t)
                          : rule == Rule::kDepthFirst ? -turn
                                                      : 0;
  return {t.turn, urgency, measure, t.rank};
}

Order Lister::List(Rule rule) const {
  MemoryCount memory(draft_);
  using Entry = std::pair<Key, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  const std::vector<int>& first_part = dependence_.first_part;
  std::vector<size_t> missing(draft_.tasks.size());
  const int num_tasks = static_cast<int>(draft_.tasks.size());
  for (int i = 0; i < num_tasks; ++i) {
    missing[i] = dependence_.before[i].size();
    if (missing[i] > 0 || first_part[i] != i) continue;
    ready.push({KeyOf(memory, rule, i, 0), i});
  }
  Order order;
  int64_t turn = 0;
  while (!ready.empty()) {
    const auto [key, task] = ready.top();
    ready.pop();
    if (rule == Rule::kLeastGrowth) {
      const Key now = KeyOf(memory, rule, task, turn);
      if (now > key && !ready.empty() && now > ready.top().first) {
        ready.push({now, task});
        continue;
      }
    }
    ++turn;
    for (int i = task; i < num_tasks && first_part[i] == task; ++i) {
      memory.Run(draft_.tasks[i]);
      order.tasks.push_back(i);
      for (int next : dependence_.after[i]) {
        if (--missing[next] > 0) continue;
        ready.push({KeyOf(memory, rule, next, turn), next});
      }
    }
  }
  order.peak = memory.Peak();
  return order;
}

// Feeds have no dependencies; each goes right before its first reader, where it
// takes memory last. One that is made once for all micro-batches stands before
// them.
void DelayFeeds(const PlanDraft& draft,
                const std::vector<std::vector<int>>& dependencies,
                Order& order) {
  std::vector<int> delayed;
  std::vector<bool> placed(draft.tasks.size(), false);
  auto is_feed = [&](int task) {
    const Task& t = draft.tasks[task];
    return t.kind == Command::Kind::kFeed &&
           (draft.turns.empty() || !draft.turns[t.turn].empty());
  };
  for (int task : order.tasks) {
    if (is_feed(task)) continue;
    for (int before : dependencies[task]) {
      if (!is_feed(before) || placed[before]) continue;
      placed[before] = true;
      delayed.push_back(before);
    }
    delayed.push_back(task);
  }
  for (int task : order.tasks) {
    if (is_feed(task) && !placed[task]) delayed.push_back(task);
  }
  MemoryCount memory(draft);
  for (int task : delayed) memory.Run(draft.tasks[task]);
  order.tasks = std::move(delayed);
  order.peak = memory.Peak();
}

}  // namespace

absl::Status Schedule(PlanDraft& draft, DeferredSums sums) {
  if (draft.tasks.empty()) return absl::OkStatus();
  const Dependence dependence = FindDependence(draft);
  const Lister lister(draft, dependence, sums);
  Order best;
  for (Rule rule : {Rule::kGraphOrder, Rule::kDepthFirst, Rule::kLeastGrowth}) {
    Order order = lister.List(rule);
    if (order.tasks.size() != draft.tasks.size()) {
      return absl::InternalError(
          "bug: lowering found commands that wait for each other");
    }
    DelayFeeds(draft, dependence.before, order);
    if (best.tasks.empty() || order.peak < best.peak) best = std::move(order);
  }
  std::vector<Task> tasks;
  for (int task : best.tasks) tasks.push_back(std::move(draft.tasks[task]));
  draft.tasks = std::move(tasks);
  return absl::OkStatus();
}

}  // namespace partita
