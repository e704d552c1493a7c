// Finds updates that need no copy.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/updates.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "placement/lower/shards.h"
#include "placement/lower/views.h"

namespace partita {
namespace {

// The tasks that read and write each storage, ascending.
struct Users {
  IdVector<StorageId, std::vector<TaskId>> readers;
  IdVector<StorageId, std::vector<TaskId>> writers;
};

Users FindUsers(const PlanDraft& draft) {
  const IdVector<StorageId, std::vector<TaskId>> none(draft.storages.size());
  Users users{none, none};
  for (TaskId task : draft.tasks.ids()) {
    for (const ShardAccess& access : draft.tasks[task].reads) {
      users.readers[draft.shards[access.shard].storage].push_back(task);
    }
    for (const ShardAccess& access : draft.tasks[task].writes) {
      users.writers[draft.shards[access.shard].storage].push_back(task);
    }
  }
  return users;
}

// A task that copies the new value of a variable into its storage: a copy of
// the whole, or the device's task in an all-gather of shards.
struct UpdateCopy {
  TaskId task;
  StorageId source;    // that it reads whole
  StorageId variable;  // of the variable
  int64_t offset = 0;  // of the source in the variable
};

// True if the kernel of the task may overwrite the bytes of the variable that
// it reads.
bool Overwrites(const PlanDraft& draft, const Task& task,
                const UpdateCopy& update_copy) {
  if (task.kind != Command::Kind::kKernel) return false;
  int operand = -1;
  for (size_t i = 0; i < task.reads.size(); ++i) {
    if (draft.shards[task.reads[i].shard].storage != update_copy.variable) {
      continue;
    }
    if (operand >= 0) return false;
    operand = static_cast<int>(i);
  }
  int result = -1;
  for (size_t i = 0; i < task.writes.size(); ++i) {
    if (draft.shards[task.writes[i].shard].storage == update_copy.source) {
      result = static_cast<int>(i);
    }
  }
  const Shard& read = draft.shards[task.reads[operand].shard];
  if (read.offset != update_copy.offset ||
      read.bytes != draft.storages[update_copy.source].bytes) {
    return false;
  }
  const auto& pairs = draft.graph->node(task.instance.node).kernel->in_place;
  return std::find(pairs.begin(), pairs.end(), InPlacePair{operand, result}) !=
         pairs.end();
}

// True if another task reads the source before an all-gather of it. In place,
// the all-gather would write those bytes again, and the reader wait for it.
bool IsReadBeforeGather(const PlanDraft& draft, const Users& users,
                        const UpdateCopy& update_copy) {
  return draft.tasks[update_copy.task].kind == Command::Kind::kCollective &&
         users.readers[update_copy.source].front() < update_copy.task;
}

bool CanBeWrittenInPlace(const PlanDraft& draft, const Users& users,
                         const UpdateCopy& update_copy) {
  if (users.writers[update_copy.source].size() != 1 ||
      IsReadBeforeGather(draft, users, update_copy)) {
    return false;
  }
  const TaskId writer = users.writers[update_copy.source].front();
  const StreamId stream = draft.tasks[writer].stream;
  for (TaskId reader : users.readers[update_copy.variable]) {
    // A reader of the new value: it comes after the copy.
    if (reader >= update_copy.task) continue;
    if (reader == writer) {
      if (!Overwrites(draft, draft.tasks[writer], update_copy)) return false;
    } else if (draft.tasks[reader].stream != stream || reader > writer) {
      return false;
    }
  }
  return true;
}

// True if the task copies all of what it reads, or gathers shards.
bool CopiesWhole(const Task& task, const Shard& from, const Shard& to) {
  return task.kind == Command::Kind::kCopy && from.type == to.type;
}
bool GathersParts(const PlanDraft& draft, const Task& task, const Shard& from) {
  return task.kind == Command::Kind::kCollective &&
         ShardingOf(draft, from.value).kind == Sharding::Kind::kSplit;
}

std::optional<UpdateCopy> UpdateCopyOf(const PlanDraft& draft, TaskId task) {
  const Task& t = draft.tasks[task];
  if (t.reads.size() != 1 || t.writes.size() != 1) return std::nullopt;
  const Shard& to = draft.shards[t.writes[0].shard];
  const Shard& from = draft.shards[t.reads[0].shard];
  const Storage& source = draft.storages[from.storage];
  const bool reads_all = from.offset == 0 && source.bytes == from.bytes &&
                         t.reads[0].range.size() == from.bytes;
  if (!to.updated || from.device != to.device || source.persistent() ||
      !reads_all) {
    return std::nullopt;
  }
  std::optional<int64_t> offset;
  if (CopiesWhole(t, from, to)) offset = 0;
  if (GathersParts(draft, t, from)) offset = OffsetInside(draft, from, to);
  if (!offset.has_value()) return std::nullopt;
  return UpdateCopy{task, from.storage, to.storage, to.offset + *offset};
}

}  // namespace

void WriteUpdatesInPlace(PlanDraft& draft) {
  const Users users = FindUsers(draft);
  IdVector<StorageId, std::vector<ShardId>> shards(draft.storages.size());
  for (ShardId shard : draft.shards.ids()) {
    const StorageId storage = draft.shards[shard].storage;
    if (storage.valid()) shards[storage].push_back(shard);
  }
  IdVector<TaskId, bool> dropped(draft.tasks.size(), false);
  for (TaskId task : draft.tasks.ids()) {
    const std::optional<UpdateCopy> update_copy = UpdateCopyOf(draft, task);
    if (!update_copy.has_value() ||
        !CanBeWrittenInPlace(draft, users, *update_copy)) {
      continue;
    }
    dropped[task] = draft.tasks[task].kind == Command::Kind::kCopy;
    // A source is never a variable, so its shards move only once.
    for (const ShardId moved : shards[update_copy->source]) {
      Shard& shard = draft.shards[moved];
      shard.storage = update_copy->variable;
      shard.offset += update_copy->offset;
      shard.updated = true;
    }
  }
  IdVector<TaskId, Task> kept;
  for (TaskId task : draft.tasks.ids()) {
    if (!dropped[task]) kept.Add(std::move(draft.tasks[task]));
  }
  draft.tasks = std::move(kept);
}

absl::Status CheckUpdatesOverlap(const PlanDraft& draft) {
  IdVector<StorageId, StreamId> stream(draft.storages.size());
  IdVector<StorageId, bool> many(draft.storages.size(), false);
  IdVector<StorageId, bool> written(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    auto access = [&](const ShardAccess& t, bool write) {
      const StorageId storage = draft.shards[t.shard].storage;
      if (!draft.storages[storage].persistent()) return;
      if (!stream[storage].valid()) stream[storage] = task.stream;
      if (stream[storage] != task.stream) many[storage] = true;
      if (write) written[storage] = true;
    };
    for (const ShardAccess& t : task.reads) access(t, false);
    for (const ShardAccess& t : task.writes) access(t, true);
  }
  for (StorageId id : draft.storages.ids()) {
    if (!many[id] || !written[id]) continue;
    const ValueId value =
        draft.graph->node(draft.storages[id].source).results[0];
    return absl::UnimplementedError(absl::StrCat(
        "variable %", draft.graph->value(value).name,
        ": found an update and readers in several streams of steps that "
        "overlap; expected one stream; compile with depth 1, or without "
        "sharded updates"));
  }
  return absl::OkStatus();
}

}  // namespace partita
