// Whether the pieces of a divided node, put together, are the node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_CUT_H_
#define PARTITA_GRAPH_CUT_H_

#include "absl/status/status.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// The shardings of a node that computes must be one cut along a factor of its
// op's dimension rule: a kept one, with every result split there, or a reduced
// one, with every result partial in its reduction. Each operand that has the
// factor is split there, the others are whole, and the op infers each member's
// piece. A reorder, which moves elements and computes nothing, may also hand a
// partial value on as it is, and a sum over micro-batches may add up partial
// sums. OK for a node that is not divided. The message names no node.
absl::Status CheckCut(const OpView& node);

// The last of these: each member has a summand of the one value that the node,
// so placed, reads, and makes of it a summand of the one that it makes.
bool PassesSummands(const OpView& node, const Placement& placement);

}  // namespace partita

#endif  // PARTITA_GRAPH_CUT_H_
