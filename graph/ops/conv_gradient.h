// The three products that a convolution and its gradients are made of. Each is
// linear in both of its factors, and the gradient of one is the other two.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_CONV_GRADIENT_H_
#define PARTITA_GRAPH_OPS_CONV_GRADIENT_H_

#include "graph/ops/grad_builder.h"
#include "graph/ops/window.h"

namespace partita {

// All take the strides, dilations, pads and groups of the builder's op.

// From the positions back to what they saw: what no window reaches, the last
// rows of `window.large`, is zero.
Term ConvBack(GradBuilder& b, const Window& window, Term positions, Term w);

// From x to the positions. Those beyond `dims`, which output padding makes, are
// cut off.
Term ConvForth(GradBuilder& b, Term x, Term w, const Shape& dims);

// The filters, of the extents `kernel`, that x and the positions' gradients ask
// for.
Term ConvFilters(GradBuilder& b, Term x, Term positions,
                 absl::Span<const int64_t> kernel);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_CONV_GRADIENT_H_
