// The dimension rule of ops with one operand and one result of equal extents,
// and independent elements.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_
#define PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_

#include "graph/op_def.h"

namespace partita {

// [a b c] -> [a b c], all kept.
DimensionRule SameDimensionsRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_ELEMENTWISE_RULE_H_
