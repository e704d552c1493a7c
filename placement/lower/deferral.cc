// Reachability among tasks, from collectives and to them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/deferral.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

// By task, whether it is in `marked` or can be reached from there.
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

// By task, whether it is one of `parts` and a part of its collective, itself or
// another, is among what `leads_on`.
std::vector<bool> WithOtherParts(const std::vector<int>& parts,
                                 const Dependence& dependence,
                                 const std::vector<bool>& leads_on) {
  std::vector<bool> first_part(leads_on.size(), false);
  for (int part : parts) {
    if (leads_on[part]) first_part[dependence.first_part[part]] = true;
  }
  std::vector<bool> found(leads_on.size(), false);
  for (int part : parts) {
    found[part] = first_part[dependence.first_part[part]];
  }
  return found;
}

// True if no more than copies to variables wait for the task.
bool EndsInVariables(const PlanDraft& draft, const Dependence& dependence,
                     int task) {
  return absl::c_all_of(dependence.after[task], [&](int next) {
    const Task& copy = draft.tasks[next];
    return copy.kind == Command::Kind::kCopy && draft.Computes(copy) &&
           dependence.after[next].empty();
  });
}

// By task, whether some of `parts`, other than those of its own collective,
// wait for a part of that. What brings variables their new values, as a gather
// of updated shares does, waits like those.
std::vector<bool> FindWaitedFor(const PlanDraft& draft,
                                const std::vector<int>& parts,
                                const Dependence& dependence) {
  std::vector<int> operands;
  for (int part : parts) {
    if (EndsInVariables(draft, dependence, part)) continue;
    const std::vector<int>& before = dependence.before[part];
    operands.insert(operands.end(), before.begin(), before.end());
  }
  return WithOtherParts(parts, dependence, Reach(operands, dependence.before));
}

bool IsCopyBetweenDevices(const PlanDraft& draft, const Task& task) {
  return task.kind == Command::Kind::kCopy && !draft.Computes(task);
}

int StorageOf(const PlanDraft& draft, const Touch& touch) {
  return draft.pieces[touch.piece].storage;
}

// By task, whether what a variable becomes waits for a part of its collective.
std::vector<bool> FindOfUpdates(const PlanDraft& draft,
                                const std::vector<int>& parts,
                                const Dependence& dependence) {
  std::vector<int> updates;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const auto updates_variable = [&](const Touch& w) {
      return draft.storages[StorageOf(draft, w)].persistent();
    };
    if (absl::c_any_of(draft.tasks[i].writes, updates_variable)) {
      updates.push_back(static_cast<int>(i));
    }
  }
  return WithOtherParts(parts, dependence,
                        Reach(std::move(updates), dependence.before));
}

// By storage, whether a copy from another device writes it.
std::vector<bool> FindBrought(const PlanDraft& draft) {
  std::vector<bool> brought(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    if (!IsCopyBetweenDevices(draft, task)) continue;
    for (const Touch& w : task.writes) brought[StorageOf(draft, w)] = true;
  }
  return brought;
}

// Kernels with operands that are brought, and none but variables and constants
// beside them.
std::vector<int> UpdatesByOtherDevices(const PlanDraft& draft,
                                       const Dependence& dependence) {
  const std::vector<bool> brought = FindBrought(draft);
  const auto is_brought = [&](const Touch& read) {
    return brought[StorageOf(draft, read)];
  };
  const auto lasts = [&](const Touch& read) {
    return draft.storages[StorageOf(draft, read)].persistent();
  };
  std::vector<int> updates;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const Task& task = draft.tasks[i];
    if (task.kind != Command::Kind::kKernel ||
        !EndsInVariables(draft, dependence, static_cast<int>(i)) ||
        !absl::c_any_of(task.reads, is_brought) ||
        !absl::c_all_of(task.reads, [&](const Touch& read) {
          return is_brought(read) || lasts(read);
        })) {
      continue;
    }
    updates.push_back(static_cast<int>(i));
  }
  return updates;
}

}  // namespace

std::vector<bool> FindDeferred(const PlanDraft& draft,
                               const Dependence& dependence,
                               DeferredSums sums) {
  const std::vector<int> parts = TasksOf(draft, Command::Kind::kCollective);
  const std::vector<bool> of_updates = FindOfUpdates(draft, parts, dependence);
  const std::vector<bool> waited_for = FindWaitedFor(draft, parts, dependence);
  std::vector<int> deferred = UpdatesByOtherDevices(draft, dependence);
  for (int part : parts) {
    if (waited_for[part]) continue;
    const bool waits = sums == DeferredSums::kAll && of_updates[part];
    if (waits || draft.Computes(draft.tasks[part])) deferred.push_back(part);
  }
  return Reach(std::move(deferred), dependence.after);
}

bool HasSumsBesideKernels(const PlanDraft& draft) {
  return absl::c_any_of(
      TasksOf(draft, Command::Kind::kCollective),
      [&](int part) { return !draft.Computes(draft.tasks[part]); });
}

}  // namespace partita
