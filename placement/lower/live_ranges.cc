// Splits storages into intervals of one live range each.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_ranges.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "placement/lower/antichain.h"

namespace partita {
namespace {

struct AccessAt {
  int64_t begin;
  int64_t end;
  TaskId task;
};

class LiveRangeFinder {
 public:
  LiveRangeFinder(const PlanDraft& draft, const DeviceClocks& clocks,
                  MachineDeviceId device)
      : draft_(draft), clocks_(clocks), device_(device) {}

  DeviceStorages Run(absl::Span<const TaskId> tasks) {
    CollectAccesses(tasks);
    for (auto& [storage, accesses] : accesses_) AddBody(storage, accesses);
    FindBound();
    return std::move(found_);
  }

 private:
  void CollectAccesses(absl::Span<const TaskId> tasks) {
    auto add = [&](StorageId storage, int64_t begin, int64_t end, TaskId task) {
      const Storage& s = draft_.storages[storage];
      if (s.device != device_ || s.persistent() || begin >= end) return;
      accesses_[storage].push_back({begin, end, task});
    };
    for (TaskId t : tasks) {
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
    const PackBufferId buffer = found_.storages.Add(storage);
    ++found_.problem.num_buffers;
    PackIntervalId interval;  // the last one of the buffer
    std::vector<TaskId> previous;
    for (auto it = bounds.begin(); std::next(it) != bounds.end(); ++it) {
      std::vector<TaskId> tasks;
      for (const AccessAt& access : accesses) {
        if (access.begin <= *it && access.end > *it) {
          tasks.push_back(access.task);
        }
      }
      std::sort(tasks.begin(), tasks.end());
      if (tasks.empty()) {
        previous.clear();
      } else if (tasks == previous) {
        found_.problem.intervals[interval].end = *std::next(it);
      } else {
        interval = AddInterval(buffer, *it, *std::next(it), tasks);
        previous = std::move(tasks);
      }
    }
  }

  PackIntervalId AddInterval(PackBufferId buffer, int64_t begin, int64_t end,
                             const std::vector<TaskId>& tasks) {
    const LiveRange& live_range =
        found_.live_ranges[found_.live_ranges.Add(LiveRangeOf(tasks, clocks_))];
    return found_.problem.intervals.Add({.buffer = buffer,
                                         .begin = begin,
                                         .end = end,
                                         .first = live_range.first.index,
                                         .last = live_range.last.index});
  }

  // Unordered intervals are live at the same time, so no layout takes less than
  // the heaviest set of them.
  void FindBound() {
    std::vector<StreamLiveRange> live_ranges;
    for (PackIntervalId interval : ByFirstAccess(found_.live_ranges)) {
      const PackInterval& bytes = found_.problem.intervals[interval];
      live_ranges.push_back(
          Weighted(found_.live_ranges[interval], clocks_,
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

IdVector<MachineDeviceId, std::vector<TaskId>> TasksByDevice(
    const PlanDraft& draft) {
  IdVector<MachineDeviceId, std::vector<TaskId>> tasks(
      draft.devices->names.size());
  for (TaskId id : draft.tasks.ids()) {
    const auto add = [&](MachineDeviceId device) {
      std::vector<TaskId>& list = tasks[device];
      if (list.empty() || list.back() != id) list.push_back(id);
    };
    const Task& task = draft.tasks[id];
    for (const ShardAccess& t : task.reads) add(draft.shards[t.shard].device);
    for (const ShardAccess& t : task.writes) add(draft.shards[t.shard].device);
    if (task.workspace.valid()) add(draft.storages[task.workspace].device);
  }
  return tasks;
}

DeviceStorages FindLiveRanges(const PlanDraft& draft,
                              const DeviceClocks& clocks,
                              absl::Span<const TaskId> tasks,
                              MachineDeviceId device) {
  return LiveRangeFinder(draft, clocks, device).Run(tasks);
}

std::vector<PackIntervalId> ByFirstAccess(
    const IdVector<PackIntervalId, LiveRange>& live_ranges) {
  std::vector<PackIntervalId> order(live_ranges.ids().begin(),
                                    live_ranges.ids().end());
  std::stable_sort(order.begin(), order.end(),
                   [&](PackIntervalId a, PackIntervalId b) {
                     return live_ranges[a].first < live_ranges[b].first;
                   });
  return order;
}

}  // namespace partita
