// Vector clocks over the streams of a draft.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// The task after the last one of the collective that begins at `first`; `first`
// + 1 for any other task.
int EndOfCollective(const PlanDraft& draft, int first) {
  int end = first + 1;
  while (end < static_cast<int>(draft.tasks.size()) &&
         SameCollective(draft.tasks[first], draft.tasks[end])) {
    ++end;
  }
  return end;
}

bool HasBytes(const PlanDraft& draft,
              const std::vector<ShardAccess>& accesses) {
  return absl::c_any_of(accesses, [&](const ShardAccess& access) {
    return draft.shards[access.shard].bytes > 0;
  });
}

// The group of ranks that exchange data by this access: in a permute, those of
// one shard; in other collectives, all ranks.
int SourceOf(const PlanDraft& draft, const Task& task,
             const ShardAccess& access) {
  const OpView node = draft.graph->view(task.instance.node);
  return CollectiveOf(node) == CollectiveKind::kPermute
             ? draft.shards[access.shard].rank
             : 0;
}

}  // namespace

Clocks::Clocks(const PlanDraft& draft)
    : waits_(draft.tasks.size()),
      rows_(draft.streams.size()),
      now_(draft.streams.size(), CountRows::kNothing),
      count_(draft.streams.size(), 0) {}

// A later task never happens before an earlier one. Visiting dependencies from
// the latest on is therefore enough: a wait may make earlier ones redundant,
// never later ones.
void Clocks::Start(int task, int stream, absl::Span<const int> dependencies) {
  RowBuilder mine(rows_, now_[stream]);
  for (auto it = dependencies.rbegin(); it != dependencies.rend(); ++it) {
    const int other = *it;
    if (streams_[other] == stream ||
        mine.At(streams_[other]) >= positions_[other]) {
      continue;
    }
    waits_[task].push_back(other);
    mine.Join(ends_[other]);
    mine.Raise(streams_[other], positions_[other]);
  }
  now_[stream] = mine.Finish();
  streams_.push_back(stream);
  positions_.push_back(++count_[stream]);
  starts_.push_back(now_[stream]);
  ends_.push_back(now_[stream]);
}

// A rank that moves no bytes neither waits nor is waited for.
void Clocks::EndCollective(const PlanDraft& draft, int first, int end) {
  absl::flat_hash_map<int, RowBuilder> sent;  // by source
  for (int i = first; i < end; ++i) {
    const Task& task = draft.tasks[i];
    if (!HasBytes(draft, task.reads)) continue;
    const int source = SourceOf(draft, task, task.reads[0]);
    RowBuilder& row =
        sent.try_emplace(source, rows_, CountRows::kNothing).first->second;
    row.Join(starts_[i]);
    row.Raise(streams_[i], positions_[i] - 1);
  }
  absl::flat_hash_map<int, int> rows;
  for (const auto& [source, row] : sent) rows.emplace(source, row.Finish());
  for (int i = first; i < end; ++i) {
    const Task& task = draft.tasks[i];
    if (!HasBytes(draft, task.writes)) continue;
    const auto row = rows.find(SourceOf(draft, task, task.writes[0]));
    if (row == rows.end()) continue;
    RowBuilder mine(rows_, now_[streams_[i]]);
    mine.Join(row->second);
    ends_[i] = now_[streams_[i]] = mine.Finish();
  }
}

Clocks Clocks::Make(const PlanDraft& draft,
                    const std::vector<std::vector<int>>& dependencies) {
  Clocks clocks(draft);
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int first = 0, end = 0; first < num_tasks; first = end) {
    end = EndOfCollective(draft, first);
    for (int task = first; task < end; ++task) {
      clocks.Start(task, draft.tasks[task].stream, dependencies[task]);
    }
    if (end > first + 1) clocks.EndCollective(draft, first, end);
  }
  return clocks;
}

}  // namespace partita
