// The ops that the graph layer itself needs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_CORE_OPS_H_
#define PARTITA_GRAPH_CORE_OPS_H_

#include "graph/op_def.h"

namespace partita {

// accumulate(x): the sum over a step's micro-batches
extern const OpDef kAccumulate;
// bucket(x, ...): all-reduces or all-gathers in one collective
extern const OpDef kBucket;
extern const OpDef kConstant;  // constant() {value}
extern const OpDef kVariable;  // variable() {name}
extern const OpDef kFused;     // fused(...), one region
extern const OpDef kCopy;      // copy(x): to another device
extern const OpDef kReorder;   // reorder(x) {layout}

}  // namespace partita

#endif  // PARTITA_GRAPH_CORE_OPS_H_
