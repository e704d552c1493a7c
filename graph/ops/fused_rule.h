// The dimension rule of a body: its ops' rules, joined.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_FUSED_RULE_H_
#define PARTITA_GRAPH_OPS_FUSED_RULE_H_

#include "graph/op_def.h"

namespace partita {

// Dimensions of the body's values that share a factor of some op are one
// factor of the body. It is as hard to cut as the hardest of them: a factor
// that is not kept by every op that has it, or not of a whole dimension
// everywhere, or that some op with it does not carry through to each of its
// results, is whole.
DimensionRule FusedRule(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_FUSED_RULE_H_
