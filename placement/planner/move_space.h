// What the moves of a search have in common for all drafts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_MOVE_SPACE_H_
#define PARTITA_PLACEMENT_PLANNER_MOVE_SPACE_H_

#include <vector>

#include "placement/planner/equal_blocks.h"
#include "placement/planner/fold_backward.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/value_forms.h"

namespace partita {

// The movable items are those that are not pinned.
struct MoveSpace {
  // The space must outlive it.
  explicit MoveSpace(const SearchSpace& space);

  const SearchSpace& space;
  const ValueForms forms;
  const FoldedLine line;
  const std::vector<EqualBlocks> blocks;
  std::vector<std::vector<ItemPlace>> places;  // by item: PlacesToTry
  // Movable items, each far from those before, so that a few of them are spread
  // over a large graph.
  std::vector<int> spread;
  std::vector<std::vector<int>> equal;  // sets of two or more equal items
  std::vector<int> different;           // one of each set, or alone
  std::vector<int> updates;  // movable items that make new values of variables
  // A small graph: all pairs of items are tried, and so no blocks.
  bool tries_pairs = false;

 private:
  void FindEqual();
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_MOVE_SPACE_H_
