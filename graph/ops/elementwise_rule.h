// The dimension rule of ops whose one result has the extents of their one
// operand, every element apart.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_
#define PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_

#include "graph/op_def.h"

namespace partita {

// [a b c] -> [a b c], all kept.
DimensionRule SameDimensionsRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_
