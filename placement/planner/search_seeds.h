// Where the search begins: the other strategies' drafts, and uniform shardings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_
#define PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_

#include <optional>
#include <vector>

#include "placement/planner/draft_timer.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// The devices of each item; nothing if a node that is not pinned is sharded.
std::optional<WholeDraft> WholeDraftOf(const PlanRequest& request,
                                       const Flow& flow, const Draft& draft);
// The draft of these devices, pins and followers included.
Draft DraftOf(const PlanRequest& request, const Flow& flow,
              const WholeDraft& whole);

// Drafts without duplicates, in a fixed order.
struct SearchSeeds {
  std::vector<WholeDraft> whole;
  std::vector<Draft> sharded;
};

// Whole: each device alone, and the drafts of other strategies, which lower
// nothing here. Sharded: `data` over k of n identical devices, k = 2, 4, ...
// and n; and, over the largest set of identical, linked devices, every node
// split along dimension 0, 1, or its last one where its rule allows, else whole
// on each of them. A seed that a strategy refuses is left out.
SearchSeeds FindSearchSeeds(const PlanRequest& request, const Flow& flow);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_SEARCH_SEEDS_H_
