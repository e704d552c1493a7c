// Gives each reader of a cheap value an op of its own that computes it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REPEAT_CHEAP_OPS_H_
#define PARTITA_PASSES_REPEAT_CHEAP_OPS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A difference from a mean that several clusters read need not be written to
// memory: each can compute it from what it was made of.
//
//   before                        after
//   %c = sub %x, %mean            %c = sub %x, %mean
//   %v = mul %c, %c               %v = mul %c, %c
//   %y = mul %c, %rate            %d = sub %x, %mean
//                                 %y = mul %d, %rate
//
// For sums, differences, products and negations of one operand of the result's
// extents and smaller ones, all of whose readers (eight at most) are
// elementwise ops of these extents, so that the value itself is gone once they
// are fused. Needs: duplicates merged, which would undo this. Skips: outputs.
absl::Status RepeatCheapOps(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REPEAT_CHEAP_OPS_H_
