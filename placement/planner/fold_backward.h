// A step of training as one line: each backward node beside its forward one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_
#define PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_

#include <vector>

#include "placement/cost/cost_model.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/flow.h"

namespace partita {

struct FoldedLine {
  std::vector<int> place;               // by item of the flow
  std::vector<std::vector<int>> items;  // by place
  std::vector<bool> backward;           // by item
  // By item: a step runs it once, not in each of several micro-batches.
  std::vector<bool> once;
};

// Places are the forward items in the graph's order: what the outputs need. All
// items are forward if nothing is updated. A backward item has the place of the
// last of these:
//   1. the first forward reader of a variable that it reads, as the gradient
//      and the update of a weight do,
//   2. the makers of the forward values that it reads,
//   3. the backward items that read it.
// A backward item that runs once a step goes by 1 alone, or else follows its
// largest operand; only where nothing is computed for it does it go by 3.
FoldedLine FoldBackward(const CostModel& costs, const Flow& flow,
                        const MicroBatches& micro_batches);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_
