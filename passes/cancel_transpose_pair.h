// Merges a transpose with the transpose before it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_CANCEL_TRANSPOSE_PAIR_H_
#define PARTITA_PASSES_CANCEL_TRANSPOSE_PAIR_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Merges two transposes into one that reads the inner one's operand.
//
//   before                                after
//   %t = transpose %x {perm = [1, 0, 2]}  %u = transpose %x {perm = [2, 0, 1]}
//   %u = transpose %t {perm = [2, 1, 0]}
//
// Leaves: inner transposes without readers, for `remove_dead`; identity
// permutations, for `remove_identities`.
absl::Status CancelTransposePair(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_CANCEL_TRANSPOSE_PAIR_H_
