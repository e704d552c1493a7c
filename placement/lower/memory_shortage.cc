// Finds the task at which most bytes are live, and what is live there.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_shortage.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "placement/lower/live_bytes.h"

namespace partita {
namespace {

// The task at which most bytes are live on the device; invalid: none ever are.
TaskId FullestTask(const PlanDraft& draft, MachineDeviceId device) {
  LiveBytes live(draft);
  TaskId fullest;
  int64_t most = 0;
  for (TaskId task : draft.tasks.ids()) {
    live.Start(task);
    if (live.bytes(device) > most) {
      most = live.bytes(device);
      fullest = task;
    }
    live.End(task);
  }
  return fullest;
}

// The live bytes while the task runs, after all tasks before it.
LiveBytes LiveAt(const PlanDraft& draft, TaskId task) {
  LiveBytes live(draft);
  if (!task.valid()) return live;
  for (TaskId before : IdRange<TaskId>(task.index)) {
    live.Start(before);
    live.End(before);
  }
  live.Start(task);
  return live;
}

std::string TaskText(const PlanDraft& draft, const Task& task) {
  const Graph& graph = *draft.graph;
  switch (task.kind) {
    case Command::Kind::kFeed:
      return absl::StrCat("input ",
                          ValueText(graph, graph.inputs()[task.port]));
    case Command::Kind::kFetch:
      return absl::StrCat("output ",
                          ValueText(graph, graph.outputs()[task.port]));
    default:
      return graph.view(task.instance.node).ToString();
  }
}

std::string KindOf(const PlanDraft& draft, ValueId value) {
  const NodeId maker = draft.graph->value(value).defining_node;
  if (!maker.valid()) return "input";
  const OpView op = draft.graph->view(maker);
  return op.is(kVariable)   ? "variable"
         : op.is(kConstant) ? "constant"
                            : "activation";
}

// The first value in each storage, or the first result of the node whose
// workspace it is, without bytes.
IdVector<StorageId, RefusalHolder> HolderOfEach(const PlanDraft& draft) {
  IdVector<StorageId, RefusalHolder> holders(draft.storages.size());
  for (const Shard& shard : draft.shards) {
    if (!shard.storage.valid() || !holders[shard.storage].name.empty())
      continue;
    holders[shard.storage] = {ValueText(*draft.graph, shard.value), 0,
                              KindOf(draft, shard.value)};
  }
  for (const Task& task : draft.tasks) {
    if (!task.workspace.valid()) continue;
    const OpView op = draft.graph->view(task.instance.node);
    holders[task.workspace] = {op.num_results() > 0
                                   ? ValueText(*draft.graph, op.result(0).id())
                                   : op.ToString(),
                               0, "workspace"};
  }
  return holders;
}

// What is stored on the device while the task runs, largest first.
std::vector<RefusalHolder> Holders(const PlanDraft& draft,
                                   MachineDeviceId device, TaskId task) {
  const LiveBytes live = LiveAt(draft, task);
  IdVector<StorageId, RefusalHolder> of_each = HolderOfEach(draft);
  std::vector<RefusalHolder> holders;
  for (StorageId id : draft.storages.ids()) {
    const Storage& storage = draft.storages[id];
    const bool is_stored =
        storage.persistent() ? storage.offset >= 0 : live.is_live(id);
    if (storage.device != device || !is_stored) continue;
    of_each[id].bytes = storage.bytes;
    holders.push_back(std::move(of_each[id]));
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const RefusalHolder& a, const RefusalHolder& b) {
                     return a.bytes > b.bytes;
                   });
  return holders;
}

}  // namespace

absl::Status ShortageError(const PlanDraft& draft,
                           const MemoryShortage& shortage) {
  const MachineDeviceId device = draft.devices->ids.at(shortage.device);
  const TaskId task = FullestTask(draft, device);
  Refusal refusal{.where = absl::StrCat("placement @", draft.graph->name()),
                  .device = shortage.device,
                  .needed = shortage.needed,
                  .limit = shortage.limit,
                  .largest = Holders(draft, device, task)};
  if (task.valid()) refusal.at = TaskText(draft, draft.tasks[task]);
  return RefusalError(refusal);
}

}  // namespace partita
