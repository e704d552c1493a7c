// Updates without copies.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/updates.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// The tasks that read and write each storage, ascending.
struct Users {
  std::vector<std::vector<int>> readers;
  std::vector<std::vector<int>> writers;
};

Users FindUsers(const PlanDraft& draft) {
  Users users;
  users.readers.resize(draft.storages.size());
  users.writers.resize(draft.storages.size());
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    for (const Touch& touch : draft.tasks[i].reads) {
      users.readers[draft.pieces[touch.piece].storage].push_back(i);
    }
    for (const Touch& touch : draft.tasks[i].writes) {
      users.writers[draft.pieces[touch.piece].storage].push_back(i);
    }
  }
  return users;
}

// True if the task may write its result into `variable`, which it reads too.
bool Overwrites(const PlanDraft& draft, const Task& task, int source,
                int variable) {
  if (task.kind != Command::Kind::kKernel) return false;
  int operand = -1;
  for (size_t i = 0; i < task.reads.size(); ++i) {
    if (draft.pieces[task.reads[i].piece].storage != variable) continue;
    if (operand >= 0) return false;
    operand = static_cast<int>(i);
  }
  int result = -1;
  for (size_t i = 0; i < task.writes.size(); ++i) {
    if (draft.pieces[task.writes[i].piece].storage == source) {
      result = static_cast<int>(i);
    }
  }
  const Piece& read = draft.pieces[task.reads[operand].piece];
  if (read.offset != 0 || read.bytes != draft.storages[variable].bytes) {
    return false;
  }
  const auto& pairs = draft.graph->node(task.instance.node).kernel->in_place;
  return std::find(pairs.begin(), pairs.end(), InPlacePair{operand, result}) !=
         pairs.end();
}

bool CanBeWrittenInPlace(const PlanDraft& draft, const Users& users, int copy,
                         int source, int variable) {
  if (users.writers[source].size() != 1) return false;
  const int writer = users.writers[source].front();
  const int stream = draft.tasks[writer].stream;
  for (int reader : users.readers[variable]) {
    if (reader >= copy) continue;  // of the new value: it followed the copy
    if (reader == writer) {
      if (!Overwrites(draft, draft.tasks[writer], source, variable)) {
        return false;
      }
    } else if (draft.tasks[reader].stream != stream || reader > writer) {
      return false;
    }
  }
  return true;
}

// The storage that an update's copy reads whole, or -1.
int SourceOfUpdate(const PlanDraft& draft, const Task& task) {
  if (task.kind != Command::Kind::kCopy) return -1;
  const Piece& to = draft.pieces[task.writes[0].piece];
  const Piece& from = draft.pieces[task.reads[0].piece];
  if (!to.updated || from.device != to.device || from.type != to.type)
    return -1;
  const Storage& source = draft.storages[from.storage];
  const bool whole = from.offset == 0 && source.bytes == to.bytes &&
                     task.reads[0].range.size() == to.bytes;
  return whole && !source.persistent() ? from.storage : -1;
}

}  // namespace

void WriteUpdatesInPlace(PlanDraft& draft) {
  const Users users = FindUsers(draft);
  std::vector<bool> dropped(draft.tasks.size(), false);
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const int source = SourceOfUpdate(draft, draft.tasks[i]);
    if (source < 0) continue;
    const int variable = draft.pieces[draft.tasks[i].writes[0].piece].storage;
    if (!CanBeWrittenInPlace(draft, users, static_cast<int>(i), source,
                             variable)) {
      continue;
    }
    dropped[i] = true;
    for (Piece& piece : draft.pieces) {
      if (piece.storage != source) continue;
      piece.storage = variable;
      piece.updated = true;
    }
  }
  std::vector<Task> kept;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(draft.tasks[i]));
  }
  draft.tasks = std::move(kept);
}

absl::Status CheckUpdatesOverlap(const PlanDraft& draft) {
  std::vector<int> stream(draft.storages.size(), -1);
  std::vector<bool> many(draft.storages.size(), false);
  std::vector<bool> written(draft.storages.size(), false);
  for (const Task& task : draft.tasks) {
    auto touch = [&](const Touch& t, bool write) {
      const int storage = draft.pieces[t.piece].storage;
      if (!draft.storages[storage].persistent()) return;
      if (stream[storage] < 0) stream[storage] = task.stream;
      if (stream[storage] != task.stream) many[storage] = true;
      if (write) written[storage] = true;
    };
    for (const Touch& t : task.reads) touch(t, false);
    for (const Touch& t : task.writes) touch(t, true);
  }
  for (size_t i = 0; i < draft.storages.size(); ++i) {
    if (!many[i] || !written[i]) continue;
    const ValueId value =
        draft.graph->node(draft.storages[i].source).results[0];
    return absl::UnimplementedError(absl::StrCat(
        "variable %", draft.graph->value(value).name,
        ": found an update and readers in several streams of steps that "
        "overlap; expected one stream; compile with depth 1"));
  }
  return absl::OkStatus();
}

}  // namespace partita
