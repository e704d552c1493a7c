// Exports normalisations.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// Without center: RMSNormalization came with opset 23.
absl::Status RmsNorm(NodeExport& node) {
  const std::string& x = node.operand(0);
  const int rank = node.rank(0);
  std::vector<int64_t> axes;
  for (int64_t axis = node.op().attr_int("axis"); axis < rank; ++axis) {
    axes.push_back(axis);
    if (axis == -1) break;
  }
  const OnnxNode square = node.Step("Mul", {x, x});
  OnnxNode mean =
      node.Step("ReduceMean", {square.output(), node.Ints("axes", axes)});
  mean.Int("keepdims", 1);
  const OnnxNode shifted = node.Step(
      "Add",
      {mean.output(), node.Scalar("epsilon", node.dtype(0),
                                  Number(node.op().attr_float("epsilon")))});
  const OnnxNode root = node.Step("Sqrt", {shifted.output()});
  const OnnxNode normalised = node.Step("Div", {x, root.output()});
  const NodeExport::Names factors = {normalised.output(), node.operand(1)};
  if (node.op().num_operands() == 2) {
    node.Give("Mul", factors);
    return absl::OkStatus();
  }
  const OnnxNode scaled = node.Step("Mul", factors);
  node.Give("Add", {scaled.output(), node.operand(2)});
  return absl::OkStatus();
}

absl::Status LayerNorm(NodeExport& node) {
  return node.op().attr_bool("center") ? ExportAlike(node) : RmsNorm(node);
}

std::string Filled(NodeExport& node, absl::string_view what, int64_t count,
                   double value) {
  HostTensor tensor(TensorType{node.dtype(0), {count}, {}});
  for (int64_t i = 0; i < count; ++i) SetFromDouble(tensor, i, value);
  return node.Constant(what, std::move(tensor));
}

// With shape [channels, 1, ...], aligned with dimension 1.
std::string PerChannel(NodeExport& node, int operand) {
  std::vector<int64_t> shape(node.rank(0) - 1, 1);
  shape[0] = node.op().operand_type(operand).dims[0];
  return node
      .Step("Reshape", {node.operand(operand), node.Ints("channels", shape)})
      .output();
}

// GroupNormalization came with opset 18: each group is normalised as a channel,
// then scaled and shifted.
absl::Status GroupNorm(NodeExport& node) {
  const Shape& dims = node.op().operand_type(0).dims;
  const int64_t groups = node.op().attr_int("groups");
  const int64_t rest = Product(absl::MakeConstSpan(dims).subspan(1)) / groups;
  const OnnxNode grouped = node.Step(
      "Reshape",
      {node.operand(0), node.Ints("groups", {dims[0], groups, rest})});
  OnnxNode alone = node.Step("InstanceNormalization",
                             {grouped.output(), Filled(node, "ones", groups, 1),
                              Filled(node, "zeros", groups, 0)});
  node.CopyFloat(alone, "epsilon", "epsilon");
  const OnnxNode whole = node.Step(
      "Reshape",
      {alone.output(), node.Ints("shape", {dims.begin(), dims.end()})});
  const OnnxNode scaled =
      node.Step("Mul", {whole.output(), PerChannel(node, 1)});
  node.Give("Add", {scaled.output(), PerChannel(node, 2)});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kBatchNorm, "BatchNormalization", ExportAlike, {{"epsilon"}}},
    {&kGroupNorm, "", GroupNorm},
    {&kHardmax, "Hardmax", ExportAlike, {{"axis"}}},
    {&kInstanceNorm, "InstanceNormalization", ExportAlike, {{"epsilon"}}},
    {&kLayerNorm, "LayerNormalization", LayerNorm, {{"axis"}, {"epsilon"}}},
    {&kLogSoftmax, "LogSoftmax", ExportAlike, {{"axis"}}},
    {&kLpNorm, "LpNormalization", ExportAlike, {{"axis"}, {"p"}}},
    {&kLrn, "LRN", ExportAlike, {{"size"}, {"alpha"}, {"beta"}, {"bias"}}},
    {&kSoftmax, "Softmax", ExportAlike, {{"axis"}}},
};

}  // namespace

extern constinit const ExportFamily kNormExports = {kRows};

}  // namespace partita
