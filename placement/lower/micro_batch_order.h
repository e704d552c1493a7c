// The order of micro-batches and pipeline stages.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MICRO_BATCH_ORDER_H_
#define PARTITA_PLACEMENT_LOWER_MICRO_BATCH_ORDER_H_

#include "placement/lower/plan_draft.h"

namespace partita {

// Assigns every task its unit run, if there are several micro-batches:
//   1. Some micro-batches read a sum over all micro-batches (the number of
//      valid labels, the statistics of a batch norm). What such a sum needs
//      runs first, for all micro-batches, in a phase of its own.
//   2. The nodes that the outputs of the step need are forward, all others
//      backward.
//   3. The level of a node is the number of copies between devices before it. A
//      node moves up to the highest level of its device if its readers allow.
//   4. The nodes of one phase, direction, level and device form a unit.
//      pipeline_order.h orders the units of all micro-batches.
//   5. Nodes that run once per step run before their first reader, or at the
//      end.
// Copies belong to the unit of what they copy. Needs: tasks.
void OrderMicroBatches(PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MICRO_BATCH_ORDER_H_
