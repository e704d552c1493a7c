// Places results in the bytes of an operand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_IN_PLACE_H_
#define PARTITA_PLACEMENT_LOWER_IN_PLACE_H_

#include "placement/lower/clocks.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Puts a result into the storage of an operand of the same size, or the result
// of a reduce-scatter at its offset in the operand. The kernel must allow it,
// and everything else that accesses those bytes must have ended before. Adds no
// waits: without that order, the result keeps its own bytes.
void ReuseOperands(PlanDraft& draft, const Clocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_IN_PLACE_H_
