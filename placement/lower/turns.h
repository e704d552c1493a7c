// Step 2b: which micro-batch goes first.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TURNS_H_
#define PARTITA_PLACEMENT_LOWER_TURNS_H_

#include "placement/lower/plan_draft.h"

namespace partita {

// Gives every task its turn in the schedule of the micro-batches, if there are
// several:
//   1. What a sum over micro-batches needs that a micro-batch itself reads (how
//      many labels count, the statistics of a batch norm) comes first, for all
//      of them: a phase of its own.
//   2. Forward is what the step's outputs need, backward what only updates do.
//   3. A node's level is the number of copies between devices before it; what
//      may wait goes up to the highest level of its device.
//   4. The nodes of a phase, direction, level and device are a unit; units and
//      micro-batches are put in order by pipeline_order.h.
//   5. What runs once a step goes before its first reader, or to the end.
// Copies go with what they copy. Needs: tasks.
void GiveTurns(PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TURNS_H_
