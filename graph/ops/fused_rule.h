// The dimension rule of a body, merged from the rules of its ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_FUSED_RULE_H_
#define PARTITA_GRAPH_OPS_FUSED_RULE_H_

#include "graph/op_def.h"

namespace partita {

// Dimensions of the body's values that share a factor of some op become one
// factor of the body. It is kept only if every op that has it keeps it, if it
// is a whole dimension everywhere, and if each such op carries it to all its
// results. Otherwise it is whole.
DimensionRule FusedRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_FUSED_RULE_H_
