// Moves factors out of sums.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FACTOR_SUMS_H_
#define PARTITA_PASSES_FACTOR_SUMS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A factor that is constant along the summed dimensions, or a sign, is applied
// to the sum instead. Then the product need not be computed.
//
//   before                                     after
//   %p = mul %x, %s                            %t = reduce_sum %x {axes = [1]}
//   %y = reduce_sum %p {axes = [1]}            %y = mul %t, %s
//
// For sums and means of f32 and f64 that keep their dimensions and are the only
// reader of the product. Gradients of batch normalisation have many. A sum may
// overflow where its product would not, and rounds differently: see
// docs/internals/numerics.md. Skips: ops with different pins.
absl::Status FactorSums(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FACTOR_SUMS_H_
