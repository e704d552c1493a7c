// Checks that the shards of a node make up the whole node.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_CHECK_SHARDING_H_
#define PARTITA_GRAPH_CHECK_SHARDING_H_

#include "absl/status/status.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// The node's shardings must be one split along a factor of its op's dimension
// rule: a kept factor, with every result split along it, or a reduced factor,
// with every result partial in its reduction. Operands with the factor are
// split along it, the others are whole, and the op infers each rank's shard. A
// reorder may also pass on a partial value, and a sum over micro-batches may
// add up partial sums. OK for a node that is not sharded. The message names no
// node.
absl::Status CheckSharding(const OpView& node);

// True for such a reorder or sum over micro-batches: each rank reads a summand
// of the operand and makes a summand of the result.
bool PassesSummands(const OpView& node, const Placement& placement);

}  // namespace partita

#endif  // PARTITA_GRAPH_CHECK_SHARDING_H_
