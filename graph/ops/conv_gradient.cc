// Makes nodes for a convolution, its transpose and the gradient of filters.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/conv_gradient.h"

#include "graph/ops/op_list.h"

namespace partita {

Term ConvBack(GradBuilder& b, const Window& window, Term positions, Term w) {
  Attributes attributes = ConvWindow(b.op());
  attributes.Set("output_padding", UnreadRows(window));
  return Apply(kConvTranspose, {positions, w}, std::move(attributes));
}

Term ConvForth(GradBuilder& b, Term x, Term w, const Shape& dims) {
  Term y = Apply(kConv, {x, w}, ConvWindow(b.op()));
  for (int d = 2; d < static_cast<int>(dims.size()) && y.valid(); ++d) {
    if (y.dims()[d] != dims[d]) y = SliceOf(y, d, 0, dims[d]);
  }
  return y;
}

Term ConvFilters(GradBuilder& b, Term x, Term positions,
                 absl::Span<const int64_t> kernel) {
  Attributes attributes = ConvWindow(b.op());
  attributes.Set("kernel", std::vector<int64_t>(kernel.begin(), kernel.end()));
  return Apply(kConvWeightGradient, {x, positions}, std::move(attributes));
}

}  // namespace partita
