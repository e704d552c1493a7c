// Conflicts from happens-before.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/lifetimes.h"

#include <algorithm>
#include <limits>
#include <map>
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

// When the bytes of one item are touched.
struct Life {
  int first = 0;                          // task
  int last = 0;                           // task
  std::vector<std::pair<int, int>> ends;  // stream, last position in it
  std::vector<int> known;                 // by stream, what every toucher knows
};

Life LifeOf(const std::vector<int>& tasks, const Clocks& clocks) {
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

bool Before(const Life& a, absl::Span<const int> known) {
  return std::all_of(a.ends.begin(), a.ends.end(), [&](const auto& end) {
    return known[end.first] >= end.second;
  });
}

class ConflictFinder {
 public:
  ConflictFinder(const PlanDraft& draft, const Clocks& clocks, int device)
      : draft_(draft), clocks_(clocks), device_(device) {}

  DeviceStorages Run() {
    CollectTouches();
    for (auto& [storage, touches] : touches_) AddBody(storage, touches);
    FindPairs();
    FindBound();
    return std::move(found_);
  }

 private:
  void CollectTouches() {
    auto add = [&](int storage, int64_t begin, int64_t end, int task) {
      const Storage& s = draft_.storages[storage];
      if (s.device != device_ || s.persistent() || begin >= end) return;
      touches_[storage].push_back({begin, end, task});
    };
    for (size_t i = 0; i < draft_.tasks.size(); ++i) {
      const Task& task = draft_.tasks[i];
      const int t = static_cast<int>(i);
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
    lives_.push_back(LifeOf(tasks, clocks_));
    found_.problem.items.push_back({.body = body,
                                    .begin = begin,
                                    .end = end,
                                    .first = lives_.back().first,
                                    .last = lives_.back().last});
  }

  std::vector<int> ByFirst() const {
    std::vector<int> order(lives_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return lives_[a].first < lives_[b].first;
    });
    return order;
  }

  // In the order of first touches, against what some stream may still not know
  // to have ended. What a stream knows only grows, so an item that every stream
  // knows of conflicts with no later one.
  void FindPairs() {
    std::vector<PackItem>& items = found_.problem.items;
    std::vector<int> open;
    std::map<int, int> latest;  // by stream, its last task so far
    for (const Life& life : lives_) {
      for (const auto& end : life.ends) latest[end.first] = -1;
    }
    int next = 0;
    size_t since_sweep = 0;
    for (int item : ByFirst()) {
      const Life& life = lives_[item];
      for (; next <= life.first; ++next) {
        const auto it = latest.find(clocks_.stream(next));
        if (it != latest.end()) it->second = next;
      }
      for (int other : open) {
        if (items[other].body == items[item].body) continue;
        if (Before(lives_[other], life.known)) continue;
        items[item].conflicts.push_back(other);
        items[other].conflicts.push_back(item);
      }
      open.push_back(item);
      if (++since_sweep < 32) continue;
      since_sweep = 0;
      std::erase_if(open, [&](int other) {
        return std::all_of(latest.begin(), latest.end(), [&](const auto& l) {
          return l.second >= 0 &&
                 Before(lives_[other], clocks_.Known(l.second));
        });
      });
    }
  }

  // Items that no order separates are all live at once, so no layout can do
  // with less than the heaviest set of them.
  void FindBound() {
    std::vector<StreamLife> lives;
    for (int item : ByFirst()) {
      const Life& life = lives_[item];
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
  const Clocks& clocks_;
  const int device_;
  std::map<int, std::vector<TouchAt>> touches_;  // by storage
  std::vector<Life> lives_;                      // by item
  DeviceStorages found_;
};

}  // namespace

DeviceStorages FindConflicts(const PlanDraft& draft, const Clocks& clocks,
                             int device) {
  return ConflictFinder(draft, clocks, device).Run();
}

}  // namespace partita
