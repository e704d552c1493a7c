// Padding at the start of every dimension, then at the end of every dimension.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/window_attributes.h"

namespace partita {

void SetWindow(OnnxNode& node, const OpView& op,
               const std::vector<int64_t>& kernel) {
  node.Ints("kernel_shape", kernel);
  const std::vector<int64_t>& strides = op.attr_ints("strides");
  if (!strides.empty()) node.Ints("strides", strides);
  std::vector<int64_t> pads = op.attr_ints("pads_before");
  std::vector<int64_t> after = op.attr_ints("pads_after");
  if (pads.empty() && after.empty()) return;
  pads.resize(kernel.size());
  after.resize(kernel.size());
  pads.insert(pads.end(), after.begin(), after.end());
  node.Ints("pads", pads);
}

void SetDilations(OnnxNode& node, const OpView& op) {
  const std::vector<int64_t>& dilations = op.attr_ints("dilations");
  if (!dilations.empty()) node.Ints("dilations", dilations);
}

}  // namespace partita
