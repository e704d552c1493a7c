// Which ops hand on their operand's bytes as they are.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MOVES_IN_ORDER_H_
#define PARTITA_PASSES_MOVES_IN_ORDER_H_

#include "graph/op_view.h"

namespace partita {

// True if the result is one run of bytes from the start of operand 0, all of
// them in their order, as of a reshape: row-major values need no kernel for it.
bool MovesAllInOrder(const OpView& op);

}  // namespace partita

#endif  // PARTITA_PASSES_MOVES_IN_ORDER_H_
