// Finds dependencies from the bytes that tasks access.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/dependencies.h"

#include <algorithm>

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
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const bool goes_on =
        i > 0 && SameCollective(draft.tasks[i - 1], draft.tasks[i]);
    first.push_back(goes_on ? first.back() : static_cast<int>(i));
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

}  // namespace

// Before addresses are chosen, every byte of a storage is written once. The
// exception is a variable, which its update writes a second time.
std::vector<std::vector<int>> FindDependencies(const PlanDraft& draft) {
  std::vector<StorageAccesses> accesses(draft.storages.size());
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

}  // namespace partita
