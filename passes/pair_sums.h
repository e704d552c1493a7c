// Computes a sum and a sum of products in one pass.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_PAIR_SUMS_H_
#define PARTITA_PASSES_PAIR_SUMS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A sum of a, and a sum of a (x - c) with c constant along the summed
// dimensions, are computed in one pass over a and x. The product is not
// written.
//
//   before                                     after
//   %s = reduce_sum %a {axes = [1]}            %m, %n = cross_moments %a, %x
//   %d = sub %x, %c                                {axes = [1]}
//   %p = mul %a, %d                            %s = cast %m
//   %t = reduce_sum %p {axes = [1]}            %o = mul c, %m (in f64)
//                                              %t = cast (sub %n, %o)
//
// The gradient of batch normalisation has these two sums. For sums of f32 over
// the same dimensions, which they keep, if the sum is the only reader of the
// product. Computed in f64, where the difference is exact enough. Skips: a
// product with an elementwise result that has no other reader, except that
// difference; ops with different pins.
absl::Status PairSums(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_PAIR_SUMS_H_
