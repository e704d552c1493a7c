// The moves of a local search over drafts of whole nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "placement/planner/draft_timer.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// Items, each with its new devices.
using Move = std::vector<std::pair<int, ItemDevices>>;

// The movable items are those that are not pinned.
class SearchMoves {
 public:
  // All must outlive it.
  SearchMoves(const PlanRequest& request, const Flow& flow);

  // The moves of a draft, without those that change nothing, at most `most`:
  //   1. a stage border: 1, 2, 4, ... items before or after a change of device,
  //      in the graph's order, go to the other side
  //   2. an item, to each other device
  //   3. an item with its readers, to each device
  //   4. equal items (equal_nodes.h), together to each device
  //   5. an item, replicated on the devices of its readers
  //   6. an item to another device, its makers replicated there too
  //   7. in small graphs, any two items
  // Items of a large graph are visited spread over it. Kernels exist for all
  // moves.
  std::vector<Move> Of(const WholeDraft& draft, size_t most) const;

 private:
  class Collector;

  const PlanRequest& request_;
  const Flow& flow_;
  std::vector<char> is_movable_;         // by item
  std::vector<int> spread_;              // movable items
  std::vector<std::vector<int>> equal_;  // sets of two or more
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_MOVES_H_
