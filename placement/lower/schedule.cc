// List scheduling for early copies and little live memory.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/schedule.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

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

// Lower is better: the turn, class (copies and collectives first, fetches
// last), then the rule's measure, then the graph's order.
using Key = std::tuple<int, int, int64_t, int>;

Key KeyOf(const PlanDraft& draft, const MemoryCount& memory, Rule rule,
          int task, int64_t turn) {
  const Task& t = draft.tasks[task];
  const bool computes =
      draft.streams[t.stream].role == StreamKey::Role::kCompute;
  const int kind = !computes ? 0 : t.kind == Command::Kind::kFetch ? 2 : 1;
  const int64_t measure = rule == Rule::kLeastGrowth  ? memory.Growth(t)
                          : rule == Rule::kDepthFirst ? -turn
                                                      : 0;
  return {t.turn, kind, measure, t.rank};
}

// By task, the first part of its collective; other tasks stand for themselves.
std::vector<int> FirstParts(const PlanDraft& draft) {
  std::vector<int> first;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const bool goes_on =
        i > 0 && draft.tasks[i].kind == Command::Kind::kCollective &&
        draft.tasks[i].instance.node == draft.tasks[i - 1].instance.node &&
        draft.tasks[i].instance.micro_batch ==
            draft.tasks[i - 1].instance.micro_batch;
    first.push_back(goes_on ? first.back() : static_cast<int>(i));
  }
  return first;
}

// A collective's first part waits for what any of its parts needs, and the
// others go with it.
void JoinParts(const std::vector<int>& first,
               std::vector<std::vector<int>>& dependencies) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == static_cast<int>(i)) continue;
    std::vector<int>& joined = dependencies[first[i]];
    joined.insert(joined.end(), dependencies[i].begin(), dependencies[i].end());
    std::sort(joined.begin(), joined.end());
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    dependencies[i].clear();
  }
}

// Keys are computed when a task becomes ready and again when it is taken: a
// task whose key has grown worse meanwhile waits once more.
Order ListInOrder(const PlanDraft& draft, const std::vector<int>& first_part,
                  const std::vector<std::vector<int>>& dependencies,
                  const std::vector<std::vector<int>>& dependents, Rule rule) {
  MemoryCount memory(draft);
  using Entry = std::pair<Key, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  std::vector<size_t> missing(draft.tasks.size());
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int i = 0; i < num_tasks; ++i) {
    missing[i] = dependencies[i].size();
    if (missing[i] > 0 || first_part[i] != i) continue;
    ready.push({KeyOf(draft, memory, rule, i, 0), i});
  }
  Order order;
  int64_t turn = 0;
  while (!ready.empty()) {
    const auto [key, task] = ready.top();
    ready.pop();
    if (rule == Rule::kLeastGrowth) {
      const Key now = KeyOf(draft, memory, rule, task, turn);
      if (now > key && !ready.empty() && now > ready.top().first) {
        ready.push({now, task});
        continue;
      }
    }
    ++turn;
    for (int i = task; i < num_tasks && first_part[i] == task; ++i) {
      memory.Run(draft.tasks[i]);
      order.tasks.push_back(i);
      for (int next : dependents[i]) {
        if (--missing[next] > 0) continue;
        ready.push({KeyOf(draft, memory, rule, next, turn), next});
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

absl::Status Schedule(PlanDraft& draft) {
  if (draft.tasks.empty()) return absl::OkStatus();
  const std::vector<int> first_part = FirstParts(draft);
  std::vector<std::vector<int>> dependencies = FindDependencies(draft);
  JoinParts(first_part, dependencies);
  std::vector<std::vector<int>> dependents(dependencies.size());
  for (size_t i = 0; i < dependencies.size(); ++i) {
    for (int before : dependencies[i]) {
      dependents[before].push_back(static_cast<int>(i));
    }
  }
  Order best;
  for (Rule rule : {Rule::kGraphOrder, Rule::kDepthFirst, Rule::kLeastGrowth}) {
    Order order =
        ListInOrder(draft, first_part, dependencies, dependents, rule);
    if (order.tasks.size() != draft.tasks.size()) {
      return absl::InternalError(
          "bug: lowering found commands that wait for each other");
    }
    DelayFeeds(draft, dependencies, order);
    if (best.tasks.empty() || order.peak < best.peak) best = std::move(order);
  }
  std::vector<Task> tasks;
  for (int task : best.tasks) tasks.push_back(std::move(draft.tasks[task]));
  draft.tasks = std::move(tasks);
  return absl::OkStatus();
}

}  // namespace partita
