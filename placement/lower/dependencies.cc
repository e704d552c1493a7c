// Finds dependencies from the bytes that tasks access.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/dependencies.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

struct AccessOfTask {
  int task;
  Extent extent;
};

struct StorageAccesses {
  std::vector<AccessOfTask> writes;
  std::vector<AccessOfTask> old_reads;  // of a variable, before its update
};

// By task: the first task of its collective; other tasks map to themselves.
std::vector<int> FirstOfCollectives(const PlanDraft& draft) {
  std::vector<int> first;
  while (first.size() < draft.tasks.size()) {
    const int task = static_cast<int>(first.size());
    first.resize(draft.EndOfCollective(task), task);
  }
  return first;
}

void MergeCollectives(const std::vector<int>& first,
                      std::vector<std::vector<int>>& dependencies) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == static_cast<int>(i)) continue;
    std::vector<int>& merged = dependencies[first[i]];
    merged.insert(merged.end(), dependencies[i].begin(), dependencies[i].end());
    std::sort(merged.begin(), merged.end());
    merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
    dependencies[i].clear();
  }
}

// Before addresses are chosen, every byte of a storage is written once. The
// exception is a variable, which its update writes a second time.
std::vector<std::vector<int>> FindDependencies(const PlanDraft& draft) {
  IdVector<StorageId, StorageAccesses> accesses(draft.storages.size());
  auto is_old = [&](const ShardAccess& access) {
    const Shard& shard = draft.shards[access.shard];
    return draft.storages[shard.storage].persistent() && !shard.updated;
  };
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int i = 0; i < num_tasks; ++i) {
    for (const ShardAccess& access : draft.tasks[i].writes) {
      const Extent extent = ExtentOf(draft, access);
      accesses[extent.storage].writes.push_back({i, extent});
    }
    for (const ShardAccess& access : draft.tasks[i].reads) {
      const Extent extent = ExtentOf(draft, access);
      if (is_old(access)) {
        accesses[extent.storage].old_reads.push_back({i, extent});
      }
    }
  }
  std::vector<std::vector<int>> dependencies(num_tasks);
  for (int i = 0; i < num_tasks; ++i) {
    std::vector<int>& list = dependencies[i];
    auto add = [&](const std::vector<AccessOfTask>& others,
                   const Extent& mine) {
      for (const AccessOfTask& other : others) {
        if (other.task != i && other.extent.overlaps(mine)) {
          list.push_back(other.task);
        }
      }
    };
    for (const ShardAccess& access : draft.tasks[i].reads) {
      const Extent mine = ExtentOf(draft, access);
      if (!is_old(access)) add(accesses[mine.storage].writes, mine);
    }
    for (const ShardAccess& access : draft.tasks[i].writes) {
      const Extent mine = ExtentOf(draft, access);
      add(accesses[mine.storage].old_reads, mine);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return dependencies;
}

bool HasBytes(const PlanDraft& draft,
              const std::vector<ShardAccess>& accesses) {
  return absl::c_any_of(accesses, [&](const ShardAccess& access) {
    return draft.shards[access.shard].bytes > 0;
  });
}

// The ranks of the collective of tasks [first, end).
std::vector<RankTransfer> RanksOf(const PlanDraft& draft, int first, int end) {
  const OpView node = draft.graph->view(draft.tasks[first].instance.node);
  const std::vector<RankTransfer> all = RanksOfCollective(node);
  std::vector<RankTransfer> ranks;
  for (int i = first; i < end; ++i) {
    const Task& task = draft.tasks[i];
    RankTransfer& rank = ranks.emplace_back(all[task.instance.rank]);
    if (!HasBytes(draft, task.reads)) rank.gives = -1;
    if (!HasBytes(draft, task.writes)) rank.takes = -1;
  }
  return ranks;
}

}  // namespace

Dependence FindDependence(const PlanDraft& draft) {
  Dependence dependence{FirstOfCollectives(draft), FindDependencies(draft), {}};
  MergeCollectives(dependence.first_of_collective, dependence.before);
  dependence.after.resize(dependence.before.size());
  for (size_t i = 0; i < dependence.before.size(); ++i) {
    for (int before : dependence.before[i]) {
      dependence.after[before].push_back(static_cast<int>(i));
    }
  }
  return dependence;
}

Clocks ClocksOf(const PlanDraft& draft) {
  const std::vector<std::vector<int>> dependencies = FindDependencies(draft);
  Clocks clocks(draft.streams.size());
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int first = 0, end = 0; first < num_tasks; first = end) {
    end = draft.EndOfCollective(first);
    for (int task = first; task < end; ++task) {
      clocks.Start(draft.tasks[task].stream, dependencies[task]);
    }
    if (end > first + 1) clocks.EndCollective(RanksOf(draft, first, end));
  }
  return clocks;
}

}  // namespace partita
