// Merges a reshape with the reshape before it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MERGE_RESHAPES_H_
#define PARTITA_PASSES_MERGE_RESHAPES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Makes the outer of two reshapes read the inner one's operand: only the last
// shape counts.
//
//   before                              after
//   %r = reshape %x {shape = [6]}       %s = reshape %x {shape = [3, 2]}
//   %s = reshape %r {shape = [3, 2]}
//
// Leaves: inner reshapes without readers, for `remove_dead`.
absl::Status MergeReshapes(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_MERGE_RESHAPES_H_
