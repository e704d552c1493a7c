// The moves of a local search over drafts.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "placement/planner/item_draft.h"
#include "placement/planner/value_forms.h"

namespace partita {

// Items, each with its new place.
using Move = std::vector<std::pair<int, ItemPlace>>;

// The move that restores the draft after `move`.
Move UndoOf(const ItemDraft& draft, const Move& move);
void Apply(const Move& move, ItemDraft& draft);

// The movable items are those that are not pinned. The places of an item are
// each device alone and, over the devices of ItemSplits, each split, and the
// whole item on every device.
class SearchMoves {
 public:
  // The space must outlive it.
  explicit SearchMoves(const SearchSpace& space);

  // The moves of a draft, without those that change nothing, at most `most`:
  //   1. a stage border: 1, 2, 4, ... items before or after a change of device,
  //      in the graph's order, go to the other side
  //   2. equal items (equal_nodes.h), together to each place
  //   3. a family: an item is split along a factor, and so is every item that
  //      is connected to it through values and can read or make them split so
  //   4. an item, to each other place
  //   5. an item with its readers, to each device
  //   6. an item, replicated on the devices of its readers
  //   7. an item to another device, its makers replicated there too
  //   8. in small graphs, any two items, each to any place
  // Items of a large graph are visited spread over it. Kernels exist for all
  // moves.
  std::vector<Move> Of(const ItemDraft& draft, size_t most) const;

 private:
  class Collector;
  class Family;

  void FindPlaces();
  void FindEqual();

  const SearchSpace& space_;
  const ValueForms forms_;
  std::vector<std::vector<ItemPlace>> places_;  // by item; none: pinned
  std::vector<int> spread_;                     // movable items
  std::vector<std::vector<int>> equal_;         // sets of two or more
  std::vector<int> different_;                  // one of each set, or alone
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
