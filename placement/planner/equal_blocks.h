// Blocks that a model repeats, such as layers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_EQUAL_BLOCKS_H_
#define PARTITA_PLACEMENT_PLANNER_EQUAL_BLOCKS_H_

#include <vector>

#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// `count` consecutive runs of `length` items. Items at the same position of two
// blocks have equal fingerprints.
struct EqualBlocks {
  int first = 0;  // the first item of the first block
  int length = 0;
  int count = 0;

  int item(int block, int position) const {
    return first + block * length + position;
  }
};

// Runs without common items, in the graph's order. An item's fingerprint covers
// its op, its types, and the ops that make what it reads (a backward block
// reads activations that are ever farther away). The lengths tried are the most
// frequent distances from an item to the last equal one, so the time is linear
// in the items. Pinned items are in no block.
std::vector<EqualBlocks> FindEqualBlocks(const PlanRequest& request,
                                         const Flow& flow);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_EQUAL_BLOCKS_H_
