// Finds the command at which most bytes are live, and what is live there.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_shortage.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// First and last command that accesses each storage of the step part.
struct Lifespan {
  int first = -1;
  int last = -1;
};

std::vector<Lifespan> Lifespans(const PlanDraft& draft,
                                const Emitted& emitted) {
  std::vector<Lifespan> lifespans(draft.storages.size());
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const int command = emitted.commands[i];
    auto access = [&](int storage) {
      if (storage < 0 || draft.storages[storage].persistent()) return;
      Lifespan& lifespan = lifespans[storage];
      if (lifespan.first < 0) lifespan.first = command;
      lifespan.last = command;
    };
    const Task& task = draft.tasks[i];
    for (const ShardAccess& t : task.reads) {
      access(draft.shards[t.shard].storage);
    }
    for (const ShardAccess& t : task.writes) {
      access(draft.shards[t.shard].storage);
    }
    access(task.workspace);
  }
  return lifespans;
}

// The command at which most bytes of the device are live.
int FullestCommand(const PlanDraft& draft, const Emitted& emitted,
                   const std::vector<Lifespan>& lifespans, int device) {
  std::vector<int64_t> change(emitted.num_commands + 1, 0);
  for (size_t i = 0; i < lifespans.size(); ++i) {
    if (lifespans[i].first < 0 || draft.storages[i].device != device) continue;
    change[lifespans[i].first] += draft.storages[i].bytes;
    change[lifespans[i].last + 1] -= draft.storages[i].bytes;
  }
  int fullest = -1;
  int64_t most = 0;
  int64_t live = 0;
  for (size_t i = 0; i < change.size(); ++i) {
    live += change[i];
    if (live > most) {
      most = live;
      fullest = static_cast<int>(i);
    }
  }
  return fullest;
}

// By storage: the first value in it, or the node of a workspace.
std::vector<std::string> StorageNames(const PlanDraft& draft) {
  std::vector<std::string> names(draft.storages.size());
  for (const Shard& shard : draft.shards) {
    if (shard.storage < 0 || !names[shard.storage].empty()) continue;
    names[shard.storage] = ValueText(*draft.graph, shard.value);
  }
  for (const Task& task : draft.tasks) {
    if (task.workspace < 0) continue;
    names[task.workspace] = draft.graph->view(task.instance.node).ToString();
  }
  return names;
}

std::string KindOf(const PlanDraft& draft, const Storage& storage,
                   const Lifespan& lifespan, bool is_workspace) {
  if (storage.persistent()) {
    return draft.graph->view(storage.source).is(kVariable) ? "variable"
                                                           : "constant";
  }
  if (is_workspace) return absl::StrCat("workspace, ", lifespan.first);
  return absl::StrCat("live ", lifespan.first, "..", lifespan.last);
}

// What is stored on the device at `command`, largest first.
std::vector<RefusalHolder> Holders(const PlanDraft& draft,
                                   const std::vector<Lifespan>& lifespans,
                                   int device, int command) {
  const std::vector<std::string> names = StorageNames(draft);
  std::vector<bool> is_workspace(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    if (task.workspace >= 0) is_workspace[task.workspace] = true;
  }
  std::vector<RefusalHolder> holders;
  for (size_t i = 0; i < lifespans.size(); ++i) {
    const Storage& storage = draft.storages[i];
    const Lifespan& lifespan = lifespans[i];
    const bool live = storage.persistent()
                          ? storage.address >= 0
                          : lifespan.first >= 0 && lifespan.first <= command &&
                                lifespan.last >= command;
    if (storage.device != device || !live) continue;
    holders.push_back({names[i], storage.bytes,
                       KindOf(draft, storage, lifespan, is_workspace[i])});
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const RefusalHolder& a, const RefusalHolder& b) {
                     return a.bytes > b.bytes;
                   });
  return holders;
}

}  // namespace

absl::Status ShortageError(const PlanDraft& draft, const Emitted& emitted,
                           const MemoryShortage& shortage) {
  const std::vector<Lifespan> lifespans = Lifespans(draft, emitted);
  const int device = draft.devices->index.at(shortage.device);
  const int command = FullestCommand(draft, emitted, lifespans, device);
  Refusal refusal{.where = absl::StrCat("plan @", draft.graph->name()),
                  .device = shortage.device,
                  .needed = shortage.needed,
                  .limit = shortage.limit,
                  .largest = Holders(draft, lifespans, device, command)};
  if (command >= 0) refusal.at = absl::StrCat("command ", command);
  return RefusalError(refusal);
}

}  // namespace partita
