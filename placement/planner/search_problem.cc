// Scores drafts and climbs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_problem.h"

#include <utility>

#include "placement/planner/draft_timer.h"

namespace partita {
namespace {

constexpr size_t kManyMoves = 100'000;

// With all memory of the machine.
Objective WithMemory(const Machine& machine, Objective objective) {
  for (const MachineDevice& device : machine.devices) {
    objective.memory_limits.push_back(device.usable());
  }
  return objective;
}

}  // namespace

SearchProblem::SearchProblem(const Graph& graph, Machine machine,
                             const SearchQuestion& question)
    : machine_(std::move(machine)),
      catalog_(question.seconds),
      objective_(WithMemory(machine_, question.objective)),
      options_(question.options),
      costs_(graph, machine_, catalog_),
      request_{costs_, objective_, options_},
      space_(request_) {}

DraftScore SearchProblem::Score(const ItemDraft& draft) const {
  return DraftTimer(space_).Score(draft);
}

std::vector<Move> SearchProblem::Moves(const ItemDraft& draft,
                                       size_t most) const {
  return SearchMoves(space_).Of(draft, most);
}

ItemDraft SearchProblem::ClimbWithout(std::optional<MoveKind> without,
                                      ItemDraft draft) const {
  const SearchMoves moves(space_);
  DraftTimer timer(space_);
  DraftScore best = timer.Score(draft);
  bool improves = true;
  while (improves) {
    improves = false;
    for (MoveKind kind : kMoveKinds) {
      if (kind == without) continue;
      for (const Move& move : moves.OfKind(kind, draft, kManyMoves)) {
        const Move undo = UndoOf(draft, move);
        Apply(move, draft);
        const DraftScore score = timer.Score(draft);
        if (IsBetter(score, best)) {
          best = score;
          improves = true;
        } else {
          Apply(undo, draft);
        }
      }
    }
  }
  return draft;
}

}  // namespace partita
