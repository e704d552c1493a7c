// Gives each reader of a cheap op its own copy of the op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REPEAT_CHEAP_OPS_H_
#define PARTITA_PASSES_REPEAT_CHEAP_OPS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A difference from a mean, which several clusters read, need not be in memory:
// each cluster can compute it from its operands.
//
//   before                        after
//   %c = sub %x, %mean            %c = sub %x, %mean
//   %v = mul %c, %c               %v = mul %c, %c
//   %y = mul %c, %rate            %d = sub %x, %mean
//                                 %y = mul %d, %rate
//
// For sums, differences, products and negations of one operand with the
// result's extents and smaller ones, if all readers (at most eight) are
// elementwise ops with these extents: the value disappears when they are fused.
// Needs: merged duplicates, as merging later would undo this. Skips: outputs.
absl::Status RepeatCheapOps(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REPEAT_CHEAP_OPS_H_
