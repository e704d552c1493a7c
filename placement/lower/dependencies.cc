// Finds dependencies from the bytes that tasks access.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/dependencies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

struct AccessOfTask {
  TaskId task;
  Extent extent;
};

// Accesses of one storage, to be searched by bytes.
class AccessIndex {
 public:
  void Add(AccessOfTask access) { accesses_.push_back(access); }

  // Needs: after the last Add, before the first search.
  void Sort() {
    absl::c_sort(accesses_, [](const AccessOfTask& a, const AccessOfTask& b) {
      return a.extent.begin < b.extent.begin;
    });
    int64_t most = 0;
    for (const AccessOfTask& access : accesses_) {
      most = std::max(most, access.extent.end);
      most_end_.push_back(most);
    }
  }

  // Calls visit(task) for each access that overlaps the extent. A bucket or a
  // resharded value has many writes, and each read overlaps few of them.
  template <typename Visit>
  void ForEachOverlap(const Extent& extent, Visit&& visit) const {
    auto after =
        absl::c_partition_point(accesses_, [&](const AccessOfTask& access) {
          return access.extent.begin < extent.end;
        });
    for (size_t i = after - accesses_.begin();
         i > 0 && most_end_[i - 1] > extent.begin; --i) {
      const AccessOfTask& access = accesses_[i - 1];
      if (access.extent.overlaps(extent)) visit(access.task);
    }
  }

 private:
  std::vector<AccessOfTask> accesses_;  // by begin
  std::vector<int64_t> most_end_;       // of each access and those before it
};

struct StorageAccesses {
  AccessIndex writes;
  AccessIndex old_reads;  // of a variable, before its update
};

// The first task of each collective; other tasks map to themselves.
IdVector<TaskId, TaskId> FirstOfCollectives(const PlanDraft& draft) {
  IdVector<TaskId, TaskId> first;
  for (const IdRange<TaskId>& tasks : draft.TasksByCollective()) {
    for (size_t i = 0; i < tasks.size(); ++i) first.Add(tasks.front());
  }
  return first;
}

// The first task of a collective takes over the dependencies of all.
void MergeCollectives(const PlanDraft& draft,
                      IdVector<TaskId, std::vector<TaskId>>& dependencies) {
  for (const IdRange<TaskId>& tasks : draft.TasksByCollective()) {
    if (tasks.size() == 1) continue;
    std::vector<TaskId> merged;
    for (TaskId task : tasks) {
      std::vector<TaskId>& own = dependencies[task];
      merged.insert(merged.end(), own.begin(), own.end());
      own.clear();
    }
    std::sort(merged.begin(), merged.end());
    merged.erase(std::unique(merged.begin(), merged.end()), merged.end());
    dependencies[tasks.front()] = std::move(merged);
  }
}

// Before addresses are chosen, every byte of a storage is written once. The
// exception is a variable, which its update writes a second time.
IdVector<TaskId, std::vector<TaskId>> FindDependencies(const PlanDraft& draft) {
  IdVector<StorageId, StorageAccesses> accesses(draft.storages.size());
  auto is_old = [&](const ShardAccess& access) {
    const Shard& shard = draft.shards[access.shard];
    return draft.storages[shard.storage].persistent() && !shard.updated;
  };
  for (TaskId task : draft.tasks.ids()) {
    for (const ShardAccess& access : draft.tasks[task].writes) {
      const Extent extent = ExtentOf(draft, access);
      accesses[extent.storage].writes.Add({task, extent});
    }
    for (const ShardAccess& access : draft.tasks[task].reads) {
      const Extent extent = ExtentOf(draft, access);
      if (is_old(access)) {
        accesses[extent.storage].old_reads.Add({task, extent});
      }
    }
  }
  for (StorageAccesses& of_storage : accesses) {
    of_storage.writes.Sort();
    of_storage.old_reads.Sort();
  }
  IdVector<TaskId, std::vector<TaskId>> dependencies(draft.tasks.size());
  for (TaskId task : draft.tasks.ids()) {
    std::vector<TaskId>& list = dependencies[task];
    auto add = [&](const AccessIndex& others, const Extent& mine) {
      others.ForEachOverlap(mine, [&](TaskId other) {
        if (other != task) list.push_back(other);
      });
    };
    for (const ShardAccess& access : draft.tasks[task].reads) {
      const Extent mine = ExtentOf(draft, access);
      if (!is_old(access)) add(accesses[mine.storage].writes, mine);
    }
    for (const ShardAccess& access : draft.tasks[task].writes) {
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

// The ranks of the collective of these tasks.
std::vector<RankTransfer> RanksOf(const PlanDraft& draft,
                                  const IdRange<TaskId>& tasks) {
  const OpView node =
      draft.graph->view(draft.tasks[tasks.front()].instance.node);
  const std::vector<RankTransfer> all = RanksOfCollective(node);
  std::vector<RankTransfer> ranks;
  for (TaskId id : tasks) {
    const Task& task = draft.tasks[id];
    RankTransfer& rank = ranks.emplace_back(all[task.instance.rank]);
    if (!HasBytes(draft, task.reads)) rank.gives = -1;
    if (!HasBytes(draft, task.writes)) rank.takes = -1;
  }
  return ranks;
}

}  // namespace

Dependence FindDependence(const PlanDraft& draft) {
  Dependence dependence{FirstOfCollectives(draft), FindDependencies(draft), {}};
  MergeCollectives(draft, dependence.before);
  dependence.after =
      IdVector<TaskId, std::vector<TaskId>>(dependence.before.size());
  for (TaskId task : dependence.before.ids()) {
    for (TaskId before : dependence.before[task]) {
      dependence.after[before].push_back(task);
    }
  }
  return dependence;
}

Clocks ClocksOf(const PlanDraft& draft) {
  const IdVector<TaskId, std::vector<TaskId>> dependencies =
      FindDependencies(draft);
  Clocks clocks(draft.streams.size());
  for (const IdRange<TaskId>& tasks : draft.TasksByCollective()) {
    for (TaskId task : tasks) {
      clocks.Start(draft.tasks[task].stream, dependencies[task]);
    }
    if (tasks.size() > 1) clocks.EndCollective(RanksOf(draft, tasks));
  }
  return clocks;
}

}  // namespace partita
