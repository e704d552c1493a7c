// Reachability among tasks, from collectives and to them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/delayed_all_reduces.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// By task: true if it is in `marked` or reachable from there.
std::vector<bool> Reach(std::vector<int> marked,
                        const std::vector<std::vector<int>>& next) {
  std::vector<bool> reached(next.size(), false);
  for (int task : marked) reached[task] = true;
  while (!marked.empty()) {
    const int task = marked.back();
    marked.pop_back();
    for (int other : next[task]) {
      if (reached[other]) continue;
      reached[other] = true;
      marked.push_back(other);
    }
  }
  return reached;
}

std::vector<int> TasksOf(const PlanDraft& draft, Command::Kind kind) {
  std::vector<int> tasks;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    if (draft.tasks[i].kind == kind) tasks.push_back(static_cast<int>(i));
  }
  return tasks;
}

// By task: true if it is in `collective_tasks` and `leads_on` holds for any
// task of its collective.
std::vector<bool> SpreadOverCollectives(
    const std::vector<int>& collective_tasks, const Dependence& dependence,
    const std::vector<bool>& leads_on) {
  std::vector<bool> first_of_collective(leads_on.size(), false);
  for (int task : collective_tasks) {
    if (leads_on[task]) {
      first_of_collective[dependence.first_of_collective[task]] = true;
    }
  }
  std::vector<bool> found(leads_on.size(), false);
  for (int task : collective_tasks) {
    found[task] = first_of_collective[dependence.first_of_collective[task]];
  }
  return found;
}

// True if only copies to variables depend on the task.
bool OnlyUpdateCopiesFollow(const PlanDraft& draft,
                            const Dependence& dependence, int task) {
  return absl::c_all_of(dependence.after[task], [&](int next) {
    const Task& copy = draft.tasks[next];
    return copy.kind == Command::Kind::kCopy && draft.Computes(copy) &&
           dependence.after[next].empty();
  });
}

// By task of a collective: true if another collective depends on it. A
// collective that only distributes new values of variables, such as the
// all-gather of a sharded optimizer, does not count.
std::vector<bool> FindNeededByCollectives(
    const PlanDraft& draft, const std::vector<int>& collective_tasks,
    const Dependence& dependence) {
  std::vector<int> operands;
  for (int task : collective_tasks) {
    if (OnlyUpdateCopiesFollow(draft, dependence, task)) continue;
    const std::vector<int>& before = dependence.before[task];
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

// By task of a collective: true if the new value of a variable depends on it.
std::vector<bool> FindNeededByUpdates(const PlanDraft& draft,
                                      const std::vector<int>& collective_tasks,
                                      const Dependence& dependence) {
  std::vector<int> updates;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const auto updates_variable = [&](const ShardAccess& w) {
      return draft.storages[StorageOf(draft, w)].persistent();
    };
    if (absl::c_any_of(draft.tasks[i].writes, updates_variable)) {
      updates.push_back(static_cast<int>(i));
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
std::vector<int> UpdatesFromOtherDevices(const PlanDraft& draft,
                                         const Dependence& dependence) {
  const IdVector<StorageId, bool> received = FindReceived(draft);
  const auto is_received = [&](const ShardAccess& read) {
    return received[StorageOf(draft, read)];
  };
  const auto is_persistent = [&](const ShardAccess& read) {
    return draft.storages[StorageOf(draft, read)].persistent();
  };
  std::vector<int> updates;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const Task& task = draft.tasks[i];
    if (task.kind != Command::Kind::kKernel ||
        !OnlyUpdateCopiesFollow(draft, dependence, static_cast<int>(i)) ||
        !absl::c_any_of(task.reads, is_received) ||
        !absl::c_all_of(task.reads, [&](const ShardAccess& read) {
          return is_received(read) || is_persistent(read);
        })) {
      continue;
    }
    updates.push_back(static_cast<int>(i));
  }
  return updates;
}

}  // namespace

std::vector<bool> FindDelayed(const PlanDraft& draft,
                              const Dependence& dependence,
                              DelayedAllReduces which) {
  const std::vector<int> collective_tasks =
      TasksOf(draft, Command::Kind::kCollective);
  const std::vector<bool> needed_by_updates =
      FindNeededByUpdates(draft, collective_tasks, dependence);
  const std::vector<bool> needed_by_collectives =
      FindNeededByCollectives(draft, collective_tasks, dependence);
  std::vector<int> delayed = UpdatesFromOtherDevices(draft, dependence);
  for (int task : collective_tasks) {
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
      [&](int task) { return !draft.Computes(draft.tasks[task]); });
}

}  // namespace partita
