// Reachability among tasks, from collectives and to them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/delayed_all_reduces.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// True for a task that is in `marked` or reachable from there.
IdVector<TaskId, bool> Reach(
    std::vector<TaskId> marked,
    const IdVector<TaskId, std::vector<TaskId>>& next) {
  IdVector<TaskId, bool> reached(next.size(), false);
  for (TaskId task : marked) reached[task] = true;
  while (!marked.empty()) {
    const TaskId task = marked.back();
    marked.pop_back();
    for (TaskId other : next[task]) {
      if (reached[other]) continue;
      reached[other] = true;
      marked.push_back(other);
    }
  }
  return reached;
}

std::vector<TaskId> TasksOf(const PlanDraft& draft, Command::Kind kind) {
  std::vector<TaskId> tasks;
  for (TaskId task : draft.tasks.ids()) {
    if (draft.tasks[task].kind == kind) tasks.push_back(task);
  }
  return tasks;
}

// True for a task that is in `collective_tasks` if `leads_on` holds for any
// task of its collective.
IdVector<TaskId, bool> SpreadOverCollectives(
    const std::vector<TaskId>& collective_tasks, const Dependence& dependence,
    const IdVector<TaskId, bool>& leads_on) {
  IdVector<TaskId, bool> first_of_collective(leads_on.size(), false);
  for (TaskId task : collective_tasks) {
    if (leads_on[task]) {
      first_of_collective[dependence.first_of_collective[task]] = true;
    }
  }
  IdVector<TaskId, bool> found(leads_on.size(), false);
  for (TaskId task : collective_tasks) {
    found[task] = first_of_collective[dependence.first_of_collective[task]];
  }
  return found;
}

// True if only copies to variables depend on the task.
bool OnlyUpdateCopiesFollow(const PlanDraft& draft,
                            const Dependence& dependence, TaskId task) {
  return absl::c_all_of(dependence.after[task], [&](TaskId next) {
    const Task& copy = draft.tasks[next];
    return copy.kind == Command::Kind::kCopy && draft.Computes(copy) &&
           dependence.after[next].empty();
  });
}

// True for a task of a collective if another collective depends on it. A
// collective that only distributes new values of variables, such as the
// all-gather of a sharded optimizer, does not count.
IdVector<TaskId, bool> FindNeededByCollectives(
    const PlanDraft& draft, const std::vector<TaskId>& collective_tasks,
    const Dependence& dependence) {
  std::vector<TaskId> operands;
  for (TaskId task : collective_tasks) {
    if (OnlyUpdateCopiesFollow(draft, dependence, task)) continue;
    const std::vector<TaskId>& before = dependence.before[task];
    operands.insert(operands.end(), before.begin(), before.end());
  }
  return SpreadOverCollectives(collective_tasks, dependence,
                               Reach(operands, dependence.before));
}

bool IsCopyBetweenDevices(const PlanDraft& draft, const Task& task) {
  return task.kind == Command::Kind::kCopy && !draft.Computes(task);
}

StorageId StorageOf(const PlanDraft& draft, const ShardAccess& access) {
  return draft.shards[access.shard].storage;
}

// True for a task of a collective if the new value of a variable depends on it.
IdVector<TaskId, bool> FindNeededByUpdates(
    const PlanDraft& draft, const std::vector<TaskId>& collective_tasks,
    const Dependence& dependence) {
  std::vector<TaskId> updates;
  for (TaskId task : draft.tasks.ids()) {
    const auto updates_variable = [&](const ShardAccess& w) {
      return draft.storages[StorageOf(draft, w)].persistent();
    };
    if (absl::c_any_of(draft.tasks[task].writes, updates_variable)) {
      updates.push_back(task);
    }
  }
  return SpreadOverCollectives(collective_tasks, dependence,
                               Reach(std::move(updates), dependence.before));
}

// True if a copy from another device writes it.
IdVector<StorageId, bool> FindReceived(const PlanDraft& draft) {
  IdVector<StorageId, bool> received(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    if (!IsCopyBetweenDevices(draft, task)) continue;
    for (const ShardAccess& w : task.writes) {
      received[StorageOf(draft, w)] = true;
    }
  }
  return received;
}

// Kernels whose operands are all received from other devices or persistent, and
// at least one of them received.
std::vector<TaskId> UpdatesFromOtherDevices(const PlanDraft& draft,
                                            const Dependence& dependence) {
  const IdVector<StorageId, bool> received = FindReceived(draft);
  const auto is_received = [&](const ShardAccess& read) {
    return received[StorageOf(draft, read)];
  };
  const auto is_persistent = [&](const ShardAccess& read) {
    return draft.storages[StorageOf(draft, read)].persistent();
  };
  std::vector<TaskId> updates;
  for (TaskId id : draft.tasks.ids()) {
    const Task& task = draft.tasks[id];
    if (task.kind != Command::Kind::kKernel ||
        !OnlyUpdateCopiesFollow(draft, dependence, id) ||
        !absl::c_any_of(task.reads, is_received) ||
        !absl::c_all_of(task.reads, [&](const ShardAccess& read) {
          return is_received(read) || is_persistent(read);
        })) {
      continue;
    }
    updates.push_back(id);
  }
  return updates;
}

}  // namespace

IdVector<TaskId, bool> FindDelayed(const PlanDraft& draft,
                                   const Dependence& dependence,
                                   DelayedAllReduces which) {
  const std::vector<TaskId> collective_tasks =
      TasksOf(draft, Command::Kind::kCollective);
  const IdVector<TaskId, bool> needed_by_updates =
      FindNeededByUpdates(draft, collective_tasks, dependence);
  const IdVector<TaskId, bool> needed_by_collectives =
      FindNeededByCollectives(draft, collective_tasks, dependence);
  std::vector<TaskId> delayed = UpdatesFromOtherDevices(draft, dependence);
  for (TaskId task : collective_tasks) {
    if (needed_by_collectives[task]) continue;
    const bool is_gradient =
        which == DelayedAllReduces::kAll && needed_by_updates[task];
    if (is_gradient || draft.Computes(draft.tasks[task])) {
      delayed.push_back(task);
    }
  }
  return Reach(std::move(delayed), dependence.after);
}

bool HasOverlappedCollectives(const PlanDraft& draft) {
  return absl::c_any_of(
      TasksOf(draft, Command::Kind::kCollective),
      [&](TaskId task) { return !draft.Computes(draft.tasks[task]); });
}

}  // namespace partita
