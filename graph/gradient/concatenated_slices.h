// Gradients of slices that together make up a whole tensor.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_GRADIENT_CONCATENATED_SLICES_H_
#define PARTITA_GRAPH_GRADIENT_CONCATENATED_SLICES_H_

#include <optional>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// Tensors whose concatenation along the axis equals a sum.
struct ConcatenatedSlices {
  ValueIds slices;
  int64_t axis = 0;
};

// The sum of `parts` of one type, if each is a slice padded with zeros along
// one axis, and the slices fill the axis without overlap. Gradients of queries,
// keys and values that attention slices from one tensor have this form. Nothing
// otherwise.
std::optional<ConcatenatedSlices> FindConcatenation(
    const Graph& graph, absl::Span<const ValueId> parts);

}  // namespace partita

#endif  // PARTITA_GRAPH_GRADIENT_CONCATENATED_SLICES_H_
