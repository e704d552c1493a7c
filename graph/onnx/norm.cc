// ONNX's normalisations.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/tensor_proto.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// With the statistics of the operand, to which the running ones, also outputs
// of the node, move.
absl::Status TrainedBatchNorm(NodeImport& node, double epsilon,
                              double momentum) {
  Composition c(node);
  const Expr x = c.Input(0).Cast(c.Input(3).dtype());
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(0); ++d) {
    if (d != 1) axes.push_back(d);
  }
  const Expr mean = x.Mean(axes);
  const Expr centred = x - mean;
  const Expr variance = (centred * centred).Mean(axes, /*keep_dims=*/false);
  const Expr flat = x.Mean(axes, /*keep_dims=*/false);
  c.Set(1, c.Input(3) * momentum + flat * (1 - momentum));
  c.Set(2, c.Input(4) * momentum + variance * (1 - momentum));
  return c.Return(c.Add(kBatchNorm,
                        {c.Input(0), c.Input(1), c.Input(2), flat, variance},
                        {{"epsilon", epsilon}}));
}

absl::Status BatchNorm(NodeImport& node) {
  const double epsilon = node.Float("epsilon", 1e-5f);
  const double momentum = node.Float("momentum", 0.9f);
  if (node.Flag("training_mode", false)) {
    return TrainedBatchNorm(node, epsilon, momentum);
  }
  for (int i = 1; i < node.num_outputs(); ++i) {
    if (node.has_output(i)) {
      return node.Unsupported(
          "outputs of statistics",
          "the result alone, or from opset 14 on training_mode = 1");
    }
  }
  ValueIds operands;
  for (int i = 0; i < 5; ++i) operands.push_back(node.input(i));
  return node.Return(
      node.Add(kBatchNorm, std::move(operands), {{"epsilon", epsilon}}));
}

absl::Status InstanceNorm(NodeImport& node) {
  return node.Return(node.Add(kInstanceNorm,
                              {node.input(0), node.input(1), node.input(2)},
                              {{"epsilon", node.Float("epsilon", 1e-5f)}}));
}

absl::StatusOr<ValueId> Expanded(NodeImport& node, ValueId value,
                                 const Shape& shape) {
  if (node.graph().type(value).dims == shape) return value;
  return node.Add(
      kExpand, {value},
      {{"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
}

// Extents of 1 and missing outer ones may expand to those of `shape`.
bool MayExpand(const Shape& dims, const Shape& shape) {
  if (dims.size() > shape.size()) return false;
  const size_t missing = shape.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1 && dims[i] != shape[missing + i]) return false;
  }
  return true;
}

// The dtype of statistics.
DType AtLeastF32(DType dtype) {
  return dtype == DType::kF64 ? dtype : DType::kF32;
}

// A scale or bias that also varies over dimensions that are not normalised.
absl::Status ScaledOutside(NodeImport& node, const Attributes& attributes,
                           const Shape& normalised) {
  const DType dtype = node.type(1).dtype;
  for (int i = 1; i <= 2 && node.has_input(i); ++i) {
    if (MayExpand(node.type(i).dims, node.type(0).dims)) continue;
    return node.Invalid(
        absl::StrCat("input ", i, " ", node.type(i).ToString()),
        absl::StrCat("extents that broadcast to ", node.type(0).ToString()));
  }
  PARTITA_ASSIGN_OR_RETURN(const ValueId ones,
                           Expanded(node, node.Scalar(dtype, 1), normalised));
  PARTITA_ASSIGN_OR_RETURN(
      ValueId value, node.Add(kLayerNorm, {node.input(0), ones}, attributes));
  PARTITA_ASSIGN_OR_RETURN(value, node.Add(kMul, {value, node.input(1)}));
  if (!node.has_input(2)) return node.Set(0, value);
  return node.Return(node.Add(kAdd, {value, node.input(2)}));
}

// axis, axis + 1, ... to the last.
std::vector<int64_t> AxesFrom(int64_t axis, int rank) {
  std::vector<int64_t> axes(rank - axis);
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

// 1 / sqrt(mean of squares + epsilon)
Expr InverseScale(Expr x, const std::vector<int64_t>& axes, double epsilon) {
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(x.dim(axis));
  const Expr sum =
      x.Apply(kReduceSumSquare, {{"axes", axes}, {"keep_dims", true}});
  return (sum / count + epsilon).Apply(kSqrt).Apply(kReciprocal);
}

// The mean and the inverse of the deviation, in the type of statistics, which
// NeutralAttributes() allows to be f32 or the operand's type.
absl::Status SetStatistics(NodeImport& node, int64_t axis) {
  const DType stash = *DTypeOfOnnx(node.Int("stash_type", 1));
  const std::vector<int64_t> axes = AxesFrom(axis, node.rank(0));
  Composition c(node);
  const Expr x = c.Input(0).Cast(AtLeastF32(node.type(0).dtype));
  const Expr mean = x.Mean(axes);
  c.Set(1, mean.Cast(stash));
  c.Set(2,
        InverseScale(x - mean, axes, node.Float("epsilon", 1e-5f)).Cast(stash));
  return c.status();
}

absl::Status LayerNorm(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0)));
  if (node.has_output(1) || node.has_output(2)) {
    PARTITA_RETURN_IF_ERROR(SetStatistics(node, axis));
  }
  const Attributes attributes = {{"axis", axis},
                                 {"epsilon", node.Float("epsilon", 1e-5f)}};
  ValueIds operands = {node.input(0)};
  const Shape& dims = node.type(0).dims;
  const Shape normalised(dims.begin() + axis, dims.end());
  for (int i = 1; i <= 2 && node.has_input(i); ++i) {
    if (!MayExpand(node.type(i).dims, normalised)) {
      return ScaledOutside(node, attributes, normalised);
    }
    PARTITA_ASSIGN_OR_RETURN(const ValueId expanded,
                             Expanded(node, node.input(i), normalised));
    operands.push_back(expanded);
  }
  return node.Return(node.Add(kLayerNorm, std::move(operands), attributes));
}

absl::Status CheckRmsNorm(const NodeImport& node) {
  const DType dtype = node.type(0).dtype;
  if (!IsFloat(dtype) || !IsFloat(node.type(1).dtype)) {
    return node.Invalid(
        absl::StrCat(node.type(0).ToString(), " and ", node.type(1).ToString()),
        "floats");
  }
  if (MayExpand(node.type(1).dims, node.type(0).dims)) return absl::OkStatus();
  return node.Invalid(
      absl::StrCat("input 1 ", node.type(1).ToString()),
      absl::StrCat("extents that broadcast to ", node.type(0).ToString()));
}

// x / sqrt(mean of squares + epsilon), rounded to the type of x, times a scale.
// For f32 it is one op, if the scale has only the normalised extents.
absl::Status RmsNorm(NodeImport& node) {
  PARTITA_RETURN_IF_ERROR(CheckRmsNorm(node));
  const DType dtype = node.type(0).dtype;
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0)));
  const double epsilon = node.Float("epsilon", 1e-5f);
  const Shape& dims = node.type(0).dims;
  const Shape normalised(dims.begin() + axis, dims.end());
  if (dtype == DType::kF32 && node.type(1).dtype == DType::kF32 &&
      MayExpand(node.type(1).dims, normalised)) {
    PARTITA_ASSIGN_OR_RETURN(const ValueId scale,
                             Expanded(node, node.input(1), normalised));
    return node.Return(
        node.Add(kLayerNorm, {node.input(0), scale},
                 {{"axis", axis}, {"epsilon", epsilon}, {"center", false}}));
  }
  Composition c(node);
  const Expr x = c.Input(0).Cast(AtLeastF32(dtype));
  const Expr inverse = InverseScale(x, AxesFrom(axis, node.rank(0)), epsilon);
  const Expr scale = c.Input(1);
  return c.Return((x * inverse).Cast(dtype).Cast(scale.dtype()) * scale);
}

// Up to opset 20 scale and bias have an element for each group, since then for
// each channel.
absl::StatusOr<ValueId> PerChannel(NodeImport& node, int input,
                                   int64_t groups) {
  const Shape& dims = node.type(input).dims;
  const int64_t channels = node.rank(0) > 1 ? node.type(0).dims[1] : 0;
  const bool per_group = node.opset() < 21 && dims == Shape{groups} &&
                         groups != channels && groups > 0 &&
                         channels % groups == 0;
  if (!per_group) return node.input(input);
  PARTITA_ASSIGN_OR_RETURN(const ValueId column,
                           node.Reshape(node.input(input), {groups, 1}));
  PARTITA_ASSIGN_OR_RETURN(const ValueId table,
                           Expanded(node, column, {groups, channels / groups}));
  return node.Reshape(table, {channels});
}

absl::Status GroupNorm(NodeImport& node) {
  const int64_t groups = node.Int("num_groups", 1);
  PARTITA_ASSIGN_OR_RETURN(const ValueId scale, PerChannel(node, 1, groups));
  PARTITA_ASSIGN_OR_RETURN(const ValueId bias, PerChannel(node, 2, groups));
  return node.Return(node.Add(
      kGroupNorm, {node.input(0), scale, bias},
      {{"groups", groups}, {"epsilon", node.Float("epsilon", 1e-5f)}}));
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

// Until opset 12 the operand is a matrix, split at the axis.
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

// (x - mean) / sqrt(mean((x - mean)^2) + 1e-9), as in ONNX's function body.
absl::Status MeanVarianceNorm(NodeImport& node) {
  std::vector<int64_t> axes = node.IntList("axes");
  if (axes.empty()) axes = {0, 2, 3};
  PARTITA_ASSIGN_OR_RETURN(axes, node.Axes(std::move(axes), node.rank(0)));
  Composition c(node);
  const Expr centred = c.Input(0) - c.Input(0).Mean(axes);
  const Expr deviation = (centred * centred).Mean(axes).Apply(kSqrt);
  return c.Return(centred / (deviation + 1e-9));
}

constexpr ConverterRow kRows[] = {
    {"BatchNormalization", BatchNorm, 5, 5, "epsilon momentum training_mode"},
    {"GroupNormalization", GroupNorm, 3, 1, "epsilon num_groups"},
    {"Hardmax", AlongAxis<kHardmax>, 1, 1, "axis"},
    {"InstanceNormalization", InstanceNorm, 3, 1, "epsilon"},
    {"LRN", Lrn, 1, 1, "alpha beta bias size"},
    {"LayerNormalization", LayerNorm, 2, 3, "axis epsilon"},
    {"LogSoftmax", AlongAxis<kLogSoftmax>, 1, 1, "axis"},
    {"LpNormalization", LpNorm, 1, 1, "axis p"},
    {"MeanVarianceNormalization", MeanVarianceNorm, 1, 1, "axes"},
    {"RMSNormalization", RmsNorm, 2, 1, "axis epsilon"},
    {"Softmax", AlongAxis<kSoftmax>, 1, 1, "axis"},
};

}  // namespace

extern constinit const ConverterFamily kNormConverters = {kRows};

}  // namespace partita
