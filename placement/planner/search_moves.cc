// Lists moves in a fixed order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_moves.h"

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
  for (MoveKind kind : kMoveKinds) AddKind(kind, space_, list);
  return list.Take();
}

std::vector<Move> SearchMoves::OfKind(MoveKind kind, const ItemDraft& draft,
                                      size_t most) const {
  MoveList list(space_, draft, most);
  AddKind(kind, space_, list);
  return list.Take();
}

}  // namespace partita
