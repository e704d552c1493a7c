// Splits storages into items of one live range each.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_ranges.h"

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

struct AccessAt {
  int64_t begin;
  int64_t end;
  int task;
};

LiveRange LiveRangeOf(const std::vector<int>& tasks,
                      const DeviceClocks& clocks) {
  LiveRange live_range{.first = tasks.front(), .last = tasks.back()};
  live_range.known.assign(clocks.num_streams(),
                          std::numeric_limits<int>::max());
  std::map<int, int> ends;
  for (int task : tasks) {
    int& end = ends[clocks.stream(task)];
    end = std::max(end, clocks.position(task));
    const absl::Span<const int> known = clocks.Known(task);
    for (size_t s = 0; s < known.size(); ++s) {
      live_range.known[s] = std::min(live_range.known[s], known[s]);
    }
  }
  live_range.ends.assign(ends.begin(), ends.end());
  return live_range;
}

class LiveRangeFinder {
 public:
  LiveRangeFinder(const PlanDraft& draft, const DeviceClocks& clocks,
                  int device)
      : draft_(draft), clocks_(clocks), device_(device) {}

  DeviceStorages Run(absl::Span<const int> tasks) {
    CollectAccesses(tasks);
    for (auto& [storage, accesses] : accesses_) AddBody(storage, accesses);
    FindBound();
    return std::move(found_);
  }

 private:
  void CollectAccesses(absl::Span<const int> tasks) {
    auto add = [&](int storage, int64_t begin, int64_t end, int task) {
      const Storage& s = draft_.storages[storage];
      if (s.device != device_ || s.persistent() || begin >= end) return;
      accesses_[storage].push_back({begin, end, task});
    };
    for (int t : tasks) {
      const Task& task = draft_.tasks[t];
      for (const auto* list : {&task.reads, &task.writes}) {
        for (const ShardAccess& access : *list) {
          const Extent e = ExtentOf(draft_, access);
          add(e.storage, e.begin, e.end, t);
        }
      }
      if (task.workspace >= 0) {
        add(task.workspace, 0, draft_.storages[task.workspace].bytes, t);
      }
    }
  }

  // Splits a storage where views and partial accesses begin and end. Merges
  // neighbours that the same tasks access.
  void AddBody(int storage, const std::vector<AccessAt>& accesses) {
    std::set<int64_t> bounds;
    for (const AccessAt& access : accesses) {
      bounds.insert(access.begin);
      bounds.insert(access.end);
    }
    const int body = found_.problem.num_bodies++;
    found_.storages.push_back(storage);
    std::vector<int> previous;
    for (auto it = bounds.begin(); std::next(it) != bounds.end(); ++it) {
      std::vector<int> tasks;
      for (const AccessAt& access : accesses) {
        if (access.begin <= *it && access.end > *it) {
          tasks.push_back(access.task);
        }
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
    found_.live_ranges.push_back(LiveRangeOf(tasks, clocks_));
    found_.problem.items.push_back({.body = body,
                                    .begin = begin,
                                    .end = end,
                                    .first = found_.live_ranges.back().first,
                                    .last = found_.live_ranges.back().last});
  }

  // Unordered items are live at the same time, so no layout takes less than the
  // heaviest set of them.
  void FindBound() {
    std::vector<StreamLiveRange> live_ranges;
    for (int item : ByFirstAccess(found_.live_ranges)) {
      const LiveRange& live_range = found_.live_ranges[item];
      const PackItem& bytes = found_.problem.items[item];
      live_ranges.push_back(
          {.weight = AlignUp(bytes.end) - AlignUp(bytes.begin),
           .stream = clocks_.stream(live_range.first),
           .position = clocks_.position(live_range.first),
           .known = live_range.known,
           .ends = live_range.ends});
    }
    found_.bound = HeaviestAntichain(live_ranges);
  }

  const PlanDraft& draft_;
  const DeviceClocks& clocks_;
  const int device_;
  std::map<int, std::vector<AccessAt>> accesses_;  // by storage
  DeviceStorages found_;
};

}  // namespace

bool EndedBefore(const LiveRange& live_range, absl::Span<const int> known) {
  return std::all_of(
      live_range.ends.begin(), live_range.ends.end(),
      [&](const auto& end) { return known[end.first] >= end.second; });
}

DeviceStorages FindLiveRanges(const PlanDraft& draft,
                              const DeviceClocks& clocks,
                              absl::Span<const int> tasks, int device) {
  return LiveRangeFinder(draft, clocks, device).Run(tasks);
}

std::vector<int> ByFirstAccess(const std::vector<LiveRange>& live_ranges) {
  std::vector<int> order(live_ranges.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return live_ranges[a].first < live_ranges[b].first;
  });
  return order;
}

}  // namespace partita
