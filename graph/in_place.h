// Which results of a kernel may be written where operands lie.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_IN_PLACE_H_
#define PARTITA_GRAPH_IN_PLACE_H_

#include <vector>

#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// Of an elementwise kernel, which at each element reads all operands before it
// writes any result: the operands, as large as the result, whose bytes each
// result may take over where both have one layout. None of a kernel whose
// results have several extents, as it reads some operands again.
std::vector<InPlacePair> ElementwiseInPlace(const OpView& node);

}  // namespace partita

#endif  // PARTITA_GRAPH_IN_PLACE_H_
