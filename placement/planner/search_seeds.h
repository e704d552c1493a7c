// Where the search begins: the other strategies' drafts, and uniform shardings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_

#include <vector>

#include "placement/planner/item_draft.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// Drafts without duplicates, in a fixed order.
struct SearchSeeds {
  std::vector<ItemDraft> items;
  std::vector<ItemDraft> splits;  // of `items`: every node split
  std::vector<Draft> others;      // that no ItemDraft describes
};

// Each device alone, and the drafts of other strategies, which lower nothing
// here; `data` over k of n identical devices, k = 2 to n (of more than 8
// devices: 2, 4, ... and n), and in training over n with sharded updates,
// unless the options choose these; and every node split along dimension 0, 1,
// or its last one where its rule allows, else whole on each of the devices of
// ItemSplits. A seed that a strategy refuses is left out.
SearchSeeds FindSearchSeeds(const SearchSpace& space);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_
