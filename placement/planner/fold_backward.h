// Folds a training step into one line: each backward node is at the position of
// its forward node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_
#define PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_

#include <vector>

#include "placement/cost/cost_model.h"
#include "placement/partition/micro_batches.h"
#include "placement/planner/flow.h"

namespace partita {

struct FoldedLine {
  std::vector<int> position;            // by item of the flow
  std::vector<std::vector<int>> items;  // by position
  std::vector<bool> backward;           // by item
  // By item: true if a step runs it once, not once for each micro-batch.
  std::vector<bool> once;
};

// Positions are the forward items in the graph's order. Forward items are those
// that outputs depend on; without updates all items are forward. A backward
// item has the largest position among these:
//   1. the first forward reader of a variable that it reads (the gradient and
//      the update of a weight read it),
//   2. the makers of the forward values that it reads,
//   3. the backward items that read it.
// A backward item that runs once a step uses only rule 1, or else the position
// of its largest operand. If all its operands are inputs or stored, it uses
// rule 3.
FoldedLine FoldBackward(const CostModel& costs, const Flow& flow,
                        const MicroBatches& micro_batches);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_FOLD_BACKWARD_H_
