// Vector clocks (Fidge 1988, Mattern 1989) over streams.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include <optional>

#include "absl/container/flat_hash_map.h"
#include "runtime/plan/collective.h"

namespace partita {

std::vector<RankTransfer> RanksOfCollective(const OpView& node) {
  const std::optional<CollectiveKind> kind = CollectiveOf(node);
  const bool keeps_apart =
      kind.has_value() && DefOf(*kind).routes == CollectiveRoutes::kShardwise;
  std::vector<RankTransfer> ranks;
  for (const Participant& rank : ParticipantsOf(node)) {
    if (keeps_apart) {
      ranks.push_back({rank.gives, rank.takes});
    } else {
      ranks.push_back({0, 0});
    }
  }
  return ranks;
}

Clocks::Clocks(size_t num_streams)
    : rows_(num_streams),
      now_(num_streams, CountRows::kNothing),
      tasks_of_(num_streams) {}

// A later task never happens before an earlier one. Visiting dependencies from
// the latest on is therefore enough: a wait may make earlier ones redundant,
// never later ones.
TaskId Clocks::Start(StreamId stream, absl::Span<const TaskId> dependencies) {
  std::vector<TaskId>& waits = waits_[waits_.Add({})];
  RowBuilder mine(rows_, now_[stream]);
  for (auto it = dependencies.rbegin(); it != dependencies.rend(); ++it) {
    const TaskId other = *it;
    if (streams_[other] == stream ||
        mine.At(streams_[other]) >= positions_[other]) {
      continue;
    }
    waits.push_back(other);
    mine.Join(ends_[other]);
    mine.Raise(streams_[other], positions_[other]);
  }
  now_[stream] = mine.Finish();
  const TaskId task = streams_.Add(stream);
  tasks_of_[stream].push_back(task);
  positions_.Add(static_cast<int>(tasks_of_[stream].size()));
  starts_.Add(now_[stream]);
  ends_.Add(now_[stream]);
  return task;
}

// A rank that moves no bytes neither waits nor is waited for.
void Clocks::EndCollective(absl::Span<const RankTransfer> ranks) {
  const int first = static_cast<int>(streams_.size() - ranks.size());
  absl::flat_hash_map<int, RowBuilder> sent;  // by group
  for (size_t r = 0; r < ranks.size(); ++r) {
    const TaskId task(first + static_cast<int>(r));
    if (ranks[r].gives < 0) continue;
    RowBuilder& row =
        sent.try_emplace(ranks[r].gives, rows_, CountRows::kNothing)
            .first->second;
    row.Join(starts_[task]);
    row.Raise(streams_[task], positions_[task] - 1);
  }
  absl::flat_hash_map<int, CountRowId> rows;
  for (const auto& [group, row] : sent) rows.emplace(group, row.Finish());
  for (size_t r = 0; r < ranks.size(); ++r) {
    const TaskId task(first + static_cast<int>(r));
    const auto row = rows.find(ranks[r].takes);
    if (row == rows.end()) continue;
    RowBuilder mine(rows_, now_[streams_[task]]);
    mine.Join(row->second);
    ends_[task] = now_[streams_[task]] = mine.Finish();
  }
}

}  // namespace partita
