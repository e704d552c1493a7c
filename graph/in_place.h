// Which results of a kernel may overwrite operands.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_IN_PLACE_H_
#define PARTITA_GRAPH_IN_PLACE_H_

#include <vector>

#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// The pairs of an elementwise kernel, which reads all operands of an element
// before it writes a result. A result may overwrite an operand of the same
// size, if both have the same layout. No pairs if the results have different
// extents: then the kernel reads some operands again.
std::vector<InPlacePair> ElementwiseInPlace(const OpView& node);

}  // namespace partita

#endif  // PARTITA_GRAPH_IN_PLACE_H_
