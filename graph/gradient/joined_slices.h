// Gradients of slices that together are the whole.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GRADIENT_JOINED_SLICES_H_
#define PARTITA_GRAPH_GRADIENT_JOINED_SLICES_H_

#include <optional>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// Tensors that, one behind the other along the axis, are a sum.
struct JoinedSlices {
  ValueIds pieces;
  int64_t axis = 0;
};

// The sum of `parts`, of one type, where each is a piece with zeros around it
// along one axis, and the pieces fill the axis and lie beside each other: what
// is left of the queries, keys and values that attention slices from one
// tensor. Missing where they are anything else.
std::optional<JoinedSlices> JoinSlices(const Graph& graph,
                                       absl::Span<const ValueId> parts);

}  // namespace partita

#endif  // PARTITA_GRAPH_GRADIENT_JOINED_SLICES_H_
