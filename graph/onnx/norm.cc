// ONNX's normalisations.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status BatchNorm(NodeImport& node) {
  node.Ignore("momentum");
  if (node.Int("training_mode", 0) != 0 || node.Int("is_test", 1) == 0) {
    return node.Unsupported("training mode", "a model exported for inference");
  }
  if (node.Int("spatial", 1) != 1) {
    return node.Unsupported("spatial = 0", "one statistic per channel");
  }
  for (int i = 1; i < node.num_outputs(); ++i) {
    if (node.has_output(i)) {
      return node.Unsupported("outputs of statistics", "the result alone");
    }
  }
  ValueIds operands;
  for (int i = 0; i < 5; ++i) operands.push_back(node.input(i));
  return node.Return(node.Add(kBatchNorm, std::move(operands),
                              {{"epsilon", node.Float("epsilon", 1e-5f)}}));
}

absl::Status InstanceNorm(NodeImport& node) {
  return node.Return(node.Add(kInstanceNorm,
                              {node.input(0), node.input(1), node.input(2)},
                              {{"epsilon", node.Float("epsilon", 1e-5f)}}));
}

absl::Status LayerNorm(NodeImport& node) {
  if (node.Int("stash_type", 1) != 1) {
    return node.Unsupported("stash_type", "1, statistics in f32");
  }
  if (node.has_output(1) || node.has_output(2)) {
    return node.Unsupported("outputs of statistics", "the result alone");
  }
  ValueIds operands = {node.input(0), node.input(1)};
  if (node.has_input(2)) operands.push_back(node.input(2));
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0)));
  return node.Return(
      node.Add(kLayerNorm, std::move(operands),
               {{"axis", axis}, {"epsilon", node.Float("epsilon", 1e-5f)}}));
}

absl::Status GroupNorm(NodeImport& node) {
  return node.Return(node.Add(kGroupNorm,
                              {node.input(0), node.input(1), node.input(2)},
                              {{"groups", node.Int("num_groups", 1)},
                               {"epsilon", node.Float("epsilon", 1e-5f)}}));
}

absl::Status Lrn(NodeImport& node) {
  return node.Return(node.Add(kLrn, {node.input(0)},
                              {{"size", node.Int("size", 1)},
                               {"alpha", node.Float("alpha", 1e-4f)},
                               {"beta", node.Float("beta", 0.75)},
                               {"bias", node.Float("bias", 1)}}));
}

absl::Status LpNorm(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0)));
  return node.Return(node.Add(kLpNorm, {node.input(0)},
                              {{"axis", axis}, {"p", node.Int("p", 2)}}));
}

// Until opset 12 the operand is seen as a matrix that is cut at the axis.
absl::StatusOr<ValueId> OverFlattened(NodeImport& node, const OpDef& op,
                                      int64_t axis) {
  const Shape dims = node.type(0).dims;
  int64_t rows = 1;
  int64_t columns = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    (static_cast<int64_t>(i) < axis ? rows : columns) *= dims[i];
  }
  PARTITA_ASSIGN_OR_RETURN(const ValueId matrix,
                           node.Reshape(node.input(0), {rows, columns}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId result,
                           node.Add(op, {matrix}, {{"axis", int64_t{1}}}));
  return node.Reshape(result, dims);
}

template <const OpDef& op>
absl::Status AlongAxis(NodeImport& node) {
  const bool flattens = node.opset() < 13;
  PARTITA_ASSIGN_OR_RETURN(
      const int64_t axis,
      node.Axis(node.Int("axis", flattens ? 1 : -1), node.rank(0)));
  if (flattens && axis != node.rank(0) - 1) {
    return node.Return(OverFlattened(node, op, axis));
  }
  return node.Return(node.Add(op, {node.input(0)}, {{"axis", axis}}));
}

// (x - mean) / sqrt(mean((x - mean)^2) + 1e-9), as ONNX's function body has it.
absl::Status MeanVarianceNorm(NodeImport& node) {
  std::vector<int64_t> axes = node.IntList("axes");
  if (axes.empty()) axes = {0, 2, 3};
  PARTITA_ASSIGN_OR_RETURN(axes, node.Axes(std::move(axes), node.rank(0)));
  const ValueId x = node.input(0);
  const DType dtype = node.type(0).dtype;
  PARTITA_ASSIGN_OR_RETURN(const ValueId mean,
                           node.Add(kReduceMean, {x}, {{"axes", axes}}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId centred, node.Add(kSub, {x, mean}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId square,
                           node.Add(kMul, {centred, centred}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId variance,
                           node.Add(kReduceMean, {square}, {{"axes", axes}}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId deviation,
                           node.Add(kSqrt, {variance}));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId divisor,
      node.Add(kAdd, {deviation, node.Scalar(dtype, 1e-9)}));
  return node.Return(node.Add(kDiv, {centred, divisor}));
}

constexpr ConverterRow kRows[] = {
    {"BatchNormalization", BatchNorm, 5, 5},
    {"GroupNormalization", GroupNorm, 3},
    {"Hardmax", AlongAxis<kHardmax>, 1},
    {"InstanceNormalization", InstanceNorm, 3},
    {"LRN", Lrn, 1},
    {"LayerNormalization", LayerNorm, 2, 3},
    {"LogSoftmax", AlongAxis<kLogSoftmax>, 1},
    {"LpNormalization", LpNorm, 1},
    {"MeanVarianceNormalization", MeanVarianceNorm, 1},
    {"Softmax", AlongAxis<kSoftmax>, 1},
};

}  // namespace

absl::Span<const ConverterRow> NormConverters() { return kRows; }

}  // namespace partita
