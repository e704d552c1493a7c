// Which results of a kernel may be written where operands lie.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_IN_PLACE_H_
#define PARTITA_GRAPH_IN_PLACE_H_

#include <vector>

#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// Of a kernel that reads an element of every operand before it writes that of
// any result, and needs it for no other: the operands whose bytes each result
// may take over, in one layout.
std::vector<InPlacePair> ElementwiseInPlace(const OpView& node);

}  // namespace partita

#endif  // PARTITA_GRAPH_IN_PLACE_H_
