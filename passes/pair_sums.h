// Sums of products in the walk that their factor's sum takes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_PAIR_SUMS_H_
#define PARTITA_PASSES_PAIR_SUMS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A sum of a, and one of a (x - c) with a c that is one along all that a sum
// adds up, come from one walk over a and x: no product is written.
//
//   before                                     after
//   %s = reduce_sum %a {axes = [1]}            %m, %n = cross_moments %a, %x
//   %d = sub %x, %c                                {axes = [1]}
//   %p = mul %a, %d                            %s = cast %m
//   %t = reduce_sum %p {axes = [1]}            %o = mul c, %m (in f64)
//                                              %t = cast (sub %n, %o)
//
// The two sums of batch normalisation's gradient are these. For sums of f32
// over the same dimensions, which keep them, where the sum alone reads the
// product. In f64, where the difference loses nothing. Skips: a product with
// what an elementwise op makes for it alone, other than that difference; ops
// that are pinned apart.
absl::Status PairSums(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_PAIR_SUMS_H_
