// Splits storages into items of one live range each.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_ranges.h"

#include <algorithm>
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

class LiveRangeFinder {
 public:
  LiveRangeFinder(const PlanDraft& draft, const DeviceClocks& clocks,
                  MachineDeviceId device)
      : draft_(draft), clocks_(clocks), device_(device) {}

  DeviceStorages Run(absl::Span<const int> tasks) {
    CollectAccesses(tasks);
    for (auto& [storage, accesses] : accesses_) AddBody(storage, accesses);
    FindBound();
    return std::move(found_);
  }

 private:
  void CollectAccesses(absl::Span<const int> tasks) {
    auto add = [&](StorageId storage, int64_t begin, int64_t end, int task) {
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
      if (task.workspace.valid()) {
        add(task.workspace, 0, draft_.storages[task.workspace].bytes, t);
      }
    }
  }

  // Splits a storage where views and partial accesses begin and end. Merges
  // neighbours that the same tasks access.
  void AddBody(StorageId storage, const std::vector<AccessAt>& accesses) {
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
      const PackItem& bytes = found_.problem.items[item];
      live_ranges.push_back(
          Weighted(found_.live_ranges[item], clocks_,
                   AlignUp(bytes.end) - AlignUp(bytes.begin)));
    }
    found_.bound = HeaviestAntichain(live_ranges);
  }

  const PlanDraft& draft_;
  const DeviceClocks& clocks_;
  const MachineDeviceId device_;
  std::map<StorageId, std::vector<AccessAt>> accesses_;
  DeviceStorages found_;
};

}  // namespace

IdVector<MachineDeviceId, std::vector<int>> TasksByDevice(
    const PlanDraft& draft) {
  IdVector<MachineDeviceId, std::vector<int>> tasks(
      draft.devices->names.size());
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const auto add = [&](MachineDeviceId device) {
      std::vector<int>& list = tasks[device];
      const int task = static_cast<int>(i);
      if (list.empty() || list.back() != task) list.push_back(task);
    };
    const Task& task = draft.tasks[i];
    for (const ShardAccess& t : task.reads) add(draft.shards[t.shard].device);
    for (const ShardAccess& t : task.writes) add(draft.shards[t.shard].device);
    if (task.workspace.valid()) add(draft.storages[task.workspace].device);
  }
  return tasks;
}

DeviceStorages FindLiveRanges(const PlanDraft& draft,
                              const DeviceClocks& clocks,
                              absl::Span<const int> tasks,
                              MachineDeviceId device) {
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
