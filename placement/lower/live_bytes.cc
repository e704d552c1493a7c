// Allocates storages at their first task and frees them after their last.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_bytes.h"

#include <algorithm>

namespace partita {
namespace {

// The storages of the step part that the task accesses, without duplicates.
std::vector<StorageId> StoragesOf(const PlanDraft& draft, const Task& task) {
  std::vector<StorageId> storages;
  auto add = [&](StorageId storage) {
    if (storage.valid() && !draft.storages[storage].persistent()) {
      storages.push_back(storage);
    }
  };
  for (const auto* list : {&task.reads, &task.writes}) {
    for (const ShardAccess& access : *list) {
      add(draft.shards[access.shard].storage);
    }
  }
  add(task.workspace);
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

}  // namespace

LiveBytes::LiveBytes(const PlanDraft& draft)
    : draft_(draft),
      pending_(draft.storages.size(), 0),
      live_(draft.storages.size(), false),
      bytes_(draft.devices->names.size(), 0) {
  for (const Task& task : draft.tasks) {
    const TaskId id = accessed_.Add(StoragesOf(draft, task));
    for (StorageId storage : accessed_[id]) ++pending_[storage];
  }
}

int64_t LiveBytes::Growth(TaskId task) const {
  int64_t growth = 0;
  for (StorageId storage : accessed_[task]) {
    const int64_t bytes = draft_.storages[storage].bytes;
    if (!live_[storage]) growth += bytes;
    if (pending_[storage] == 1) growth -= bytes;
  }
  return growth;
}

void LiveBytes::Start(TaskId task) {
  for (StorageId storage : accessed_[task]) {
    if (live_[storage]) continue;
    live_[storage] = true;
    const Storage& s = draft_.storages[storage];
    bytes_[s.device] += s.bytes;
    peak_ = std::max(peak_, bytes_[s.device]);
  }
}

void LiveBytes::End(TaskId task) {
  for (StorageId storage : accessed_[task]) {
    if (--pending_[storage] > 0) continue;
    live_[storage] = false;
    const Storage& s = draft_.storages[storage];
    bytes_[s.device] -= s.bytes;
  }
}

}  // namespace partita
