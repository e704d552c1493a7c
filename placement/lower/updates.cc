// Updates without copies.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/updates.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "placement/lower/pieces.h"
#include "placement/lower/views.h"

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

// A task that brings an update's value to its variable, in place of which that
// may be written there: a copy of the whole, or the device's part in a gather
// of parts.
struct Bringing {
  int task = -1;
  int source = -1;     // the storage that it reads whole
  int variable = -1;   // that of the variable
  int64_t offset = 0;  // of the source's bytes in the variable
};

// True if the task may write its result where its bytes lie in the variable,
// which it reads too.
bool Overwrites(const PlanDraft& draft, const Task& task,
                const Bringing& bringing) {
  if (task.kind != Command::Kind::kKernel) return false;
  int operand = -1;
  for (size_t i = 0; i < task.reads.size(); ++i) {
    if (draft.pieces[task.reads[i].piece].storage != bringing.variable) {
      continue;
    }
    if (operand >= 0) return false;
    operand = static_cast<int>(i);
  }
  int result = -1;
  for (size_t i = 0; i < task.writes.size(); ++i) {
    if (draft.pieces[task.writes[i].piece].storage == bringing.source) {
      result = static_cast<int>(i);
    }
  }
  const Piece& read = draft.pieces[task.reads[operand].piece];
  if (read.offset != bringing.offset ||
      read.bytes != draft.storages[bringing.source].bytes) {
    return false;
  }
  const auto& pairs = draft.graph->node(task.instance.node).kernel->in_place;
  return std::find(pairs.begin(), pairs.end(), InPlacePair{operand, result}) !=
         pairs.end();
}

bool CanBeWrittenInPlace(const PlanDraft& draft, const Users& users,
                         const Bringing& bringing) {
  if (users.writers[bringing.source].size() != 1) return false;
  const int writer = users.writers[bringing.source].front();
  const int stream = draft.tasks[writer].stream;
  for (int reader : users.readers[bringing.variable]) {
    // Of the new value: it followed what brought it.
    if (reader >= bringing.task) continue;
    if (reader == writer) {
      if (!Overwrites(draft, draft.tasks[writer], bringing)) return false;
    } else if (draft.tasks[reader].stream != stream || reader > writer) {
      return false;
    }
  }
  return true;
}

// Whether the task copies the whole of what it reads, or gathers parts of it.
bool BringsWhole(const Task& task, const Piece& from, const Piece& to) {
  return task.kind == Command::Kind::kCopy && from.type == to.type;
}
bool GathersParts(const PlanDraft& draft, const Task& task, const Piece& from) {
  return task.kind == Command::Kind::kCollective &&
         ShardingOf(draft, from.value).kind == Sharding::Kind::kSplit;
}

std::optional<Bringing> BringingOf(const PlanDraft& draft, int task) {
  const Task& t = draft.tasks[task];
  if (t.reads.size() != 1 || t.writes.size() != 1) return std::nullopt;
  const Piece& to = draft.pieces[t.writes[0].piece];
  const Piece& from = draft.pieces[t.reads[0].piece];
  const Storage& source = draft.storages[from.storage];
  const bool reads_all = from.offset == 0 && source.bytes == from.bytes &&
                         t.reads[0].range.size() == from.bytes;
  if (!to.updated || from.device != to.device || source.persistent() ||
      !reads_all) {
    return std::nullopt;
  }
  std::optional<int64_t> offset;
  if (BringsWhole(t, from, to)) offset = 0;
  if (GathersParts(draft, t, from)) offset = OffsetInside(draft, from, to);
  if (!offset.has_value()) return std::nullopt;
  return Bringing{task, from.storage, to.storage, to.offset + *offset};
}

}  // namespace

void WriteUpdatesInPlace(PlanDraft& draft) {
  const Users users = FindUsers(draft);
  std::vector<std::vector<int>> pieces(draft.storages.size());
  for (size_t i = 0; i < draft.pieces.size(); ++i) {
    const int storage = draft.pieces[i].storage;
    if (storage >= 0) pieces[storage].push_back(static_cast<int>(i));
  }
  std::vector<bool> dropped(draft.tasks.size(), false);
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const std::optional<Bringing> bringing =
        BringingOf(draft, static_cast<int>(i));
    if (!bringing.has_value() ||
        !CanBeWrittenInPlace(draft, users, *bringing)) {
      continue;
    }
    dropped[i] = draft.tasks[i].kind == Command::Kind::kCopy;
    // What brings is no variable's, so that its pieces move once.
    for (const int moved : pieces[bringing->source]) {
      Piece& piece = draft.pieces[moved];
      piece.storage = bringing->variable;
      piece.offset += bringing->offset;
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
        "overlap; expected one stream; compile with depth 1, or without "
        "divided updates"));
  }
  return absl::OkStatus();
}

}  // namespace partita
