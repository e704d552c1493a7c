// The moves of a local search over drafts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "placement/planner/item_draft.h"
#include "placement/planner/move_space.h"

namespace partita {

// Items, each with its new place.
using Move = std::vector<std::pair<int, ItemPlace>>;

// The move that restores the draft after `move`.
Move UndoOf(const ItemDraft& draft, const Move& move);
void Apply(const Move& move, ItemDraft& draft);

enum class MoveKind : uint8_t {
  // 1, 2, 4, ... items before or after a change of device, in the graph's
  // order, go to the other side.
  kBorder,
  // In training: 1, 2, 4, ... positions of the folded line (fold_backward.h)
  // before or after a change of device, each with its forward, backward and
  // update items, go to the other side.
  kStageBorder,
  // Equal items (equal_nodes.h), together to each place.
  kEqualItems,
  // In large graphs, of equal blocks (equal_blocks.h): the items at one
  // position, together to each place; every other block like one block; one
  // block to one device.
  kBlocks,
  // An item is split along a factor, and so is every item that is connected to
  // it through values and can read or make them split so.
  kFamily,
  // In training: the items that make new values of variables, all or the large
  // ones, split along dimension 0 (a sharded optimizer) or whole on every
  // device of the splits.
  kUpdates,
  // An item, to each other place.
  kItem,
  // An item with its readers, to each device.
  kWithReaders,
  // An item, replicated on the devices of its readers.
  kReplicate,
  // The same, with the items that lead to it and take less than the transfer
  // that this saves: at least two in all.
  kRecompute,
  // An item to another device, its makers replicated there too.
  kWithMakers,
  // In small graphs, any two items, each to any place.
  kPair,
};

inline constexpr MoveKind kMoveKinds[] = {
    MoveKind::kBorder,    MoveKind::kStageBorder, MoveKind::kEqualItems,
    MoveKind::kBlocks,    MoveKind::kFamily,      MoveKind::kUpdates,
    MoveKind::kItem,      MoveKind::kWithReaders, MoveKind::kReplicate,
    MoveKind::kRecompute, MoveKind::kWithMakers,  MoveKind::kPair,
};

class SearchMoves {
 public:
  // The space must outlive it.
  explicit SearchMoves(const SearchSpace& space) : space_(space) {}

  // The moves of a draft, without those that change nothing, at most `most`;
  // kind by kind. Kernels exist for all of them. If a large graph has more, the
  // kinds alternate, so that borders are not all that is tried.
  std::vector<Move> Of(const ItemDraft& draft, size_t most) const;
  std::vector<Move> OfKind(MoveKind kind, const ItemDraft& draft,
                           size_t most) const;

 private:
  const MoveSpace space_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
