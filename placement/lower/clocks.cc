// Vector clocks over the streams of a draft.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

// One behind the last part of the collective that begins at `first`; of any
// other task, one behind it.
int EndOfParts(const PlanDraft& draft, int first) {
  int end = first + 1;
  while (end < static_cast<int>(draft.tasks.size()) &&
         DoTogether(draft.tasks[first], draft.tasks[end])) {
    ++end;
  }
  return end;
}

bool HasBytes(const PlanDraft& draft, const std::vector<Touch>& touches) {
  return absl::c_any_of(touches, [&](const Touch& touch) {
    return draft.pieces[touch.piece].bytes > 0;
  });
}

// What parts give to and take from, by touch: in a permute the piece itself,
// else all parts alike.
int SourceOf(const PlanDraft& draft, const Task& part, const Touch& touch) {
  const OpView node = draft.graph->view(part.instance.node);
  return CollectiveOf(node) == CollectiveKind::kPermute
             ? draft.pieces[touch.piece].member
             : 0;
}

}  // namespace

Clocks::Clocks(const PlanDraft& draft)
    : waits_(draft.tasks.size()),
      rows_(draft.streams.size()),
      now_(draft.streams.size(), CountRows::kNothing),
      count_(draft.streams.size(), 0) {}

// A later task never is before an earlier one, so going through a task's
// dependencies from the latest on, one wait may make earlier ones needless and
// never the other way round.
void Clocks::Start(int task, int stream, absl::Span<const int> dependencies) {
  RowInMaking mine(rows_, now_[stream]);
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

// Where there are no bytes, nobody waits for anybody.
void Clocks::EndParts(const PlanDraft& draft, int first, int end) {
  absl::flat_hash_map<int, RowInMaking> given;  // by source
  for (int part = first; part < end; ++part) {
    const Task& task = draft.tasks[part];
    if (!HasBytes(draft, task.reads)) continue;
    const int source = SourceOf(draft, task, task.reads[0]);
    RowInMaking& row =
        given.try_emplace(source, rows_, CountRows::kNothing).first->second;
    row.Join(starts_[part]);
    row.Raise(streams_[part], positions_[part] - 1);
  }
  absl::flat_hash_map<int, int> rows;
  for (const auto& [source, row] : given) rows.emplace(source, row.Finish());
  for (int part = first; part < end; ++part) {
    const Task& task = draft.tasks[part];
    if (!HasBytes(draft, task.writes)) continue;
    const auto row = rows.find(SourceOf(draft, task, task.writes[0]));
    if (row == rows.end()) continue;
    RowInMaking mine(rows_, now_[streams_[part]]);
    mine.Join(row->second);
    ends_[part] = now_[streams_[part]] = mine.Finish();
  }
}

Clocks Clocks::Make(const PlanDraft& draft,
                    const std::vector<std::vector<int>>& dependencies) {
  Clocks clocks(draft);
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int first = 0, end = 0; first < num_tasks; first = end) {
    end = EndOfParts(draft, first);
    for (int task = first; task < end; ++task) {
      clocks.Start(task, draft.tasks[task].stream, dependencies[task]);
    }
    if (end > first + 1) clocks.EndParts(draft, first, end);
  }
  return clocks;
}

}  // namespace partita
