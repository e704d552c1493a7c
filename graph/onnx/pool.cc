// ONNX's pools.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/window_attributes.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::StatusOr<Attributes> PoolAttributes(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const OnnxWindow window,
                           ReadWindow(node, node.type(0).dims, {}));
  Attributes attributes = WindowAttributes(window);
  attributes.Set("kernel", window.kernel);
  attributes.Set("ceil_extra", window.ceil_extra);
  return attributes;
}

absl::Status MaxPool(NodeImport& node) {
  if (node.has_output(1)) {
    return node.Unsupported("output Indices", "the pooled values alone");
  }
  PARTITA_ASSIGN_OR_RETURN(Attributes attributes, PoolAttributes(node));
  return node.Return(
      node.Add(kMaxPool, {node.input(0)}, std::move(attributes)));
}

absl::Status AveragePool(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Attributes attributes, PoolAttributes(node));
  attributes.Set("count_include_pad", node.Int("count_include_pad", 0) != 0);
  return node.Return(
      node.Add(kAvgPool, {node.input(0)}, std::move(attributes)));
}

template <const OpDef& op>
absl::Status GlobalPool(NodeImport& node) {
  std::vector<int64_t> axes;
  for (int axis = 2; axis < node.rank(0); ++axis) axes.push_back(axis);
  return node.Return(node.Add(op, {node.input(0)}, {{"axes", axes}}));
}

constexpr ConverterRow kRows[] = {
    {"AveragePool", AveragePool, 1, 1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads "
     "strides"},
    {"GlobalAveragePool", GlobalPool<kReduceMean>, 1},
    {"GlobalMaxPool", GlobalPool<kReduceMax>, 1},
    {"MaxPool", MaxPool, 1, 2,
     "auto_pad ceil_mode dilations kernel_shape pads strides"},
};

}  // namespace

absl::Span<const ConverterRow> PoolConverters() { return kRows; }

}  // namespace partita
