// Step 5: results that take over the bytes of an operand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_IN_PLACE_H_
#define PARTITA_PLACEMENT_LOWER_IN_PLACE_H_

#include "placement/lower/clocks.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Puts a result into the storage of an operand of the same size, or a scattered
// sum to its place in its operand, where the kernel allows it and everything
// else that touches those bytes has ended before. Adds no wait: where the order
// is missing, the result gets its own bytes.
void ReuseOperands(PlanDraft& draft, const Clocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_IN_PLACE_H_
