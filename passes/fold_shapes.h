// Replaces `shape` and `size` by constants.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FOLD_SHAPES_H_
#define PARTITA_PASSES_FOLD_SHAPES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Shapes are static, so `shape` and `size` are constants.
//
//   before                       after
//   %s = shape %x                %s = constant i64[2] [2, 3]
//
// Leaves: operands that may have no readers, for `remove_dead`.
absl::Status FoldShapes(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FOLD_SHAPES_H_
