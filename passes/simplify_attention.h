// Takes out of attention's operands what the op can do itself.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_SIMPLIFY_ATTENTION_H_
#define PARTITA_PASSES_SIMPLIFY_ATTENTION_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Lets attention read keys and values before their heads are repeated, and all
// operands before their heads and positions are swapped; a mask that hides
// later positions becomes an attribute, and one that hides nothing goes away.
//
//   before                                 after
//   %q, %k, %v = transpose                 %z = attention %x, %w, %u
//       %x, %w, %u {perm = [0, 2, 1, 3]}       {causal = true,
//   %m = constant [[0, -inf], [0, 0]]           positions_first = true, ..}
//   %y = attention %q, %k, %v, %m {..}     %y = transpose %z
//                                              {perm = [0, 2, 1, 3]}
//
// Of a condition that is true for earlier positions only and another one, the
// other stays as mask, if what is hidden is minus infinity. Readers that swap
// heads and positions back take the attention's own result. Leaves: what made
// the operands, perhaps unread, for `remove_dead`. Skips: what is pinned apart.
absl::Status SimplifyAttention(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_SIMPLIFY_ATTENTION_H_
