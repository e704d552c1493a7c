// Removes expands that elementwise ops do by broadcasting.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_DROP_EXPANDS_H_
#define PARTITA_PASSES_DROP_EXPANDS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// An elementwise op broadcasts its operands. So an expanded operand need not be
// in memory if another operand has the result's extents.
//
//   before                                      after
//   %e = expand %s {shape = [8, 4]}             %y = mul %x, %s
//   %y = mul %x, %e
//
// Gradients of sums and means are such expands. Leaves: expands without
// readers, for `remove_dead`. Skips: readers that are pinned elsewhere.
absl::Status DropExpands(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_DROP_EXPANDS_H_
