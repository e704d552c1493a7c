// Cuts storages into items that live and die together.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lifetimes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "placement/lower/antichain.h"

namespace partita {
namespace {

struct TouchAt {
  int64_t begin;
  int64_t end;
  int task;
};

Life LifeOf(const std::vector<int>& tasks, const DeviceClocks& clocks) {
  Life life{.first = tasks.front(), .last = tasks.back()};
  life.known.assign(clocks.num_streams(), std::numeric_limits<int>::max());
  std::map<int, int> ends;
  for (int task : tasks) {
    int& end = ends[clocks.stream(task)];
    end = std::max(end, clocks.position(task));
    const absl::Span<const int> known = clocks.Known(task);
    for (size_t s = 0; s < known.size(); ++s) {
      life.known[s] = std::min(life.known[s], known[s]);
    }
  }
  life.ends.assign(ends.begin(), ends.end());
  return life;
}

class LifeFinder {
 public:
  LifeFinder(const PlanDraft& draft, const DeviceClocks& clocks, int device)
      : draft_(draft), clocks_(clocks), device_(device) {}

  DeviceStorages Run(absl::Span<const int> tasks) {
    CollectTouches(tasks);
    for (auto& [storage, touches] : touches_) AddBody(storage, touches);
    FindBound();
    return std::move(found_);
  }

 private:
  void CollectTouches(absl::Span<const int> tasks) {
    auto add = [&](int storage, int64_t begin, int64_t end, int task) {
      const Storage& s = draft_.storages[storage];
      if (s.device != device_ || s.persistent() || begin >= end) return;
      touches_[storage].push_back({begin, end, task});
    };
    for (int t : tasks) {
      const Task& task = draft_.tasks[t];
      for (const auto* list : {&task.reads, &task.writes}) {
        for (const Touch& touch : *list) {
          const Extent e = ExtentOf(draft_, touch);
          add(e.storage, e.begin, e.end, t);
        }
      }
      if (task.workspace >= 0) {
        add(task.workspace, 0, draft_.storages[task.workspace].bytes, t);
      }
    }
  }

  // Cuts a storage where views and parts begin and end, and joins neighbours
  // that the same tasks touch.
  void AddBody(int storage, const std::vector<TouchAt>& touches) {
    std::set<int64_t> cuts;
    for (const TouchAt& touch : touches) {
      cuts.insert(touch.begin);
      cuts.insert(touch.end);
    }
    const int body = found_.problem.num_bodies++;
    found_.storages.push_back(storage);
    std::vector<int> previous;
    for (auto it = cuts.begin(); std::next(it) != cuts.end(); ++it) {
      std::vector<int> tasks;
      for (const TouchAt& touch : touches) {
        if (touch.begin <= *it && touch.end > *it) tasks.push_back(touch.task);
      }
      std::sort(tasks.begin(), tasks.end());
      if (tasks.empty()) {
        previous.clear();
      } else if (tasks == previous) {
        found_.problem.items.back().end = *std::next(it);
      } else {
        AddItem(body, *it, *std::next(it), tasks);
        previous = std::move(tasks);
      }
    }
  }

  void AddItem(int body, int64_t begin, int64_t end,
               const std::vector<int>& tasks) {
    found_.lives.push_back(LifeOf(tasks, clocks_));
    found_.problem.items.push_back({.body = body,
                                    .begin = begin,
                                    .end = end,
                                    .first = found_.lives.back().first,
                                    .last = found_.lives.back().last});
  }

  // Items that no order separates are all live at once, so no layout can do
  // with less than the heaviest set of them.
  void FindBound() {
    std::vector<StreamLife> lives;
    for (int item : ByFirstTouch(found_.lives)) {
      const Life& life = found_.lives[item];
      const PackItem& bytes = found_.problem.items[item];
      lives.push_back({.weight = AlignUp(bytes.end) - AlignUp(bytes.begin),
                       .stream = clocks_.stream(life.first),
                       .position = clocks_.position(life.first),
                       .known = life.known,
                       .ends = life.ends});
    }
    found_.bound = HeaviestAntichain(lives);
  }

  const PlanDraft& draft_;
  const DeviceClocks& clocks_;
  const int device_;
  std::map<int, std::vector<TouchAt>> touches_;  // by storage
  DeviceStorages found_;
};

}  // namespace

bool EndedBefore(const Life& life, absl::Span<const int> known) {
  return std::all_of(life.ends.begin(), life.ends.end(), [&](const auto& end) {
    return known[end.first] >= end.second;
  });
}

DeviceStorages FindLives(const PlanDraft& draft, const DeviceClocks& clocks,
                         absl::Span<const int> tasks, int device) {
  return LifeFinder(draft, clocks, device).Run(tasks);
}

std::vector<int> ByFirstTouch(const std::vector<Life>& lives) {
  std::vector<int> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return lives[a].first < lives[b].first;
  });
  return order;
}

}  // namespace partita
