// The three products in a convolution and its gradients. Each is linear in both
// factors, and its gradients are the other two.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_CONV_GRADIENT_H_
#define PARTITA_GRAPH_OPS_CONV_GRADIENT_H_

#include "graph/ops/grad_builder.h"
#include "graph/ops/window.h"

namespace partita {

// All use the strides, dilations, pads and groups of the builder's op.

// From the positions back to the elements of their windows. The last rows of
// `window.large`, which no window reaches, are zero.
Term ConvBack(GradBuilder& b, const Window& window, Term positions, Term w);

// From x to the positions. Positions beyond `dims`, which output padding adds,
// are dropped.
Term ConvForth(GradBuilder& b, Term x, Term w, const Shape& dims);

// The gradient of the filters, with extents `kernel`, from x and the gradients
// of the positions.
Term ConvFilters(GradBuilder& b, Term x, Term positions,
                 absl::Span<const int64_t> kernel);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_CONV_GRADIENT_H_
