// Moves work on attention's operands into the op.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_SIMPLIFY_ATTENTION_H_
#define PARTITA_PASSES_SIMPLIFY_ATTENTION_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Attention reads keys and values before their heads are repeated, and all
// operands before their heads and positions are swapped. A mask that hides
// later positions becomes an attribute, and a mask without effect is removed.
//
//   before                                 after
//   %q, %k, %v = transpose                 %z = attention %x, %w, %u
//       %x, %w, %u {perm = [0, 2, 1, 3]}       {causal = true,
//   %m = constant [[0, -inf], [0, 0]]           positions_first = true, ..}
//   %y = attention %q, %k, %v, %m {..}     %y = transpose %z
//                                              {perm = [0, 2, 1, 3]}
//
// If a condition on earlier positions is combined with another condition, the
// other one stays as the mask, if it hides with minus infinity. Readers that
// swap heads and positions back read the attention's own result. Leaves: makers
// of operands that may have no readers, for `remove_dead`. Skips: ops with
// different pins.
absl::Status SimplifyAttention(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_SIMPLIFY_ATTENTION_H_
