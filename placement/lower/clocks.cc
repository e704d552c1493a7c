// Vector clocks over the streams of a draft.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

void Join(absl::Span<const int> other, std::vector<int>& mine) {
  for (size_t s = 0; s < mine.size(); ++s) {
    mine[s] = std::max(mine[s], other[s]);
  }
}

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

// In a permute the bytes of a part go to whoever takes that piece, in a
// broadcast from the root to all that take it, else from each to each. Where
// there are none, nobody waits for anybody.
bool Reaches(const PlanDraft& draft, const Task& giver, const Task& taker) {
  if (!HasBytes(draft, giver.reads) || !HasBytes(draft, taker.writes)) {
    return false;
  }
  const OpView node = draft.graph->view(giver.instance.node);
  return CollectiveOf(node) != CollectiveKind::kPermute ||
         draft.pieces[giver.reads[0].piece].member ==
             draft.pieces[taker.writes[0].piece].member;
}

}  // namespace

Clocks::Clocks(const PlanDraft& draft)
    : num_streams_(draft.streams.size()),
      now_(num_streams_, std::vector<int>(num_streams_, 0)) {
  known_.reserve(draft.tasks.size() * num_streams_);
  waits_.resize(draft.tasks.size());
}

// A later task never is before an earlier one, so going through a task's
// dependencies from the latest on, one wait may make earlier ones needless and
// never the other way round.
void Clocks::Start(int task, int stream, absl::Span<const int> dependencies) {
  std::vector<int>& mine = now_[stream];
  for (auto it = dependencies.rbegin(); it != dependencies.rend(); ++it) {
    const int other = *it;
    if (mine[streams_[other]] >= positions_[other]) continue;
    waits_[task].push_back(other);
    const auto after = after_part_.find(other);
    Join(after == after_part_.end() ? Known(other) : after->second, mine);
    mine[streams_[other]] = positions_[other];
  }
  known_.insert(known_.end(), mine.begin(), mine.end());
  streams_.push_back(stream);
  positions_.push_back(++mine[stream]);
}

void Clocks::EndParts(const PlanDraft& draft, int first, int end) {
  for (int part = first; part < end; ++part) {
    std::vector<int>& mine = now_[streams_[part]];
    for (int other = first; other < end; ++other) {
      if (Reaches(draft, draft.tasks[other], draft.tasks[part])) {
        Join(Known(other), mine);
      }
    }
    after_part_[part] = mine;
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
