// Classifies tasks by stream, kind and delay.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/urgency.h"

#include "absl/algorithm/container.h"

namespace partita {
namespace {

bool WritesVariable(const PlanDraft& draft, const Task& task) {
  return absl::c_any_of(task.writes, [&](const ShardAccess& access) {
    return draft.storages[draft.shards[access.shard].storage].persistent();
  });
}

Urgency UrgencyOf(const PlanDraft& draft, const Task& task, bool delayed) {
  if (!draft.Computes(task)) return Urgency::kOfOtherStreams;
  if (task.kind == Command::Kind::kFetch) return Urgency::kOfFetches;
  if (!delayed) return Urgency::kOfKernels;
  return task.kind == Command::Kind::kCollective && !WritesVariable(draft, task)
             ? Urgency::kDelayedCollectives
             : Urgency::kAfterCollectives;
}

}  // namespace

IdVector<TaskId, Urgency> FindUrgency(const PlanDraft& draft,
                                      const Dependence& dependence,
                                      DelayedAllReduces delayed) {
  const IdVector<TaskId, bool> is_delayed =
      FindDelayed(draft, dependence, delayed);
  IdVector<TaskId, Urgency> urgency;
  for (TaskId task : draft.tasks.ids()) {
    urgency.Add(UrgencyOf(draft, draft.tasks[task], is_delayed[task]));
  }
  return urgency;
}

}  // namespace partita
