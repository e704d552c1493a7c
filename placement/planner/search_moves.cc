// Lists moves in a fixed order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_moves.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "placement/planner/move_list.h"

namespace partita {
namespace {

void AddKind(MoveKind kind, const MoveSpace& space, MoveList& list) {
  switch (kind) {
    case MoveKind::kBorder:
      return AddBorders(space, list);
    case MoveKind::kStageBorder:
      return AddStageBorders(space, list);
    case MoveKind::kEqualItems:
      return AddEqualItems(space, list);
    case MoveKind::kBlocks:
      return AddBlocks(space, list);
    case MoveKind::kFamily:
      return AddFamilies(space, list);
    case MoveKind::kUpdates:
      return AddUpdates(space, list);
    case MoveKind::kItem:
      return AddItems(space, list);
    case MoveKind::kWithReaders:
      return AddWithReaders(space, list);
    case MoveKind::kReplicate:
      return AddReplicas(space, list);
    case MoveKind::kRecompute:
      return AddRecomputed(space, list);
    case MoveKind::kWithMakers:
      return AddWithMakers(space, list);
    case MoveKind::kPair:
      return AddPairs(space, list);
  }
}

// The first moves of all kinds, then the second ones, and so on.
std::vector<Move> Interleaved(std::vector<Move> moves,
                              const std::vector<size_t>& ends, size_t most) {
  std::vector<Move> chosen;
  for (size_t turn = 0; chosen.size() < most; ++turn) {
    size_t begin = 0;
    for (size_t end : ends) {
      const bool has_more = begin + turn < end;
      if (has_more && chosen.size() < most) {
        chosen.push_back(std::move(moves[begin + turn]));
      }
      begin = end;
    }
  }
  return chosen;
}

}  // namespace

void Apply(const Move& move, ItemDraft& draft) {
  for (const auto& [item, place] : move) draft[item] = place;
}

Move UndoOf(const ItemDraft& draft, const Move& move) {
  Move undo;
  for (const auto& [item, place] : move) undo.emplace_back(item, draft[item]);
  return undo;
}

std::vector<Move> SearchMoves::Of(const ItemDraft& draft, size_t most) const {
  MoveList list(space_, draft, most);
  std::vector<size_t> ends;  // in the list, by kind
  for (MoveKind kind : kMoveKinds) {
    if (!space_.tries_pairs) list.Allow(most);
    AddKind(kind, space_, list);
    ends.push_back(list.size());
  }
  if (list.size() <= most) return list.Take();
  return Interleaved(list.Take(), ends, most);
}

std::vector<Move> SearchMoves::OfKind(MoveKind kind, const ItemDraft& draft,
                                      size_t most) const {
  MoveList list(space_, draft, most);
  AddKind(kind, space_, list);
  return list.Take();
}

}  // namespace partita
