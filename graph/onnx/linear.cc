// ONNX's matrix products and convolutions.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/window_attributes.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status MatMul(NodeImport& node) {
  return node.Return(node.Add(kMatmul, {node.input(0), node.input(1)}));
}

absl::StatusOr<ValueId> Scaled(NodeImport& node, ValueId value,
                               absl::string_view name, double factor) {
  if (factor == 1) return value;
  const DType dtype = node.graph().type(value).dtype;
  if (!Holds(dtype, Number(factor))) {
    return node.Unsupported(
        absl::StrCat(name, " ", factor, " for matrices of ", DTypeName(dtype)),
        absl::StrCat("a factor of type ", DTypeName(dtype)));
  }
  return node.Add(kMul, {value, node.Scalar(dtype, factor)});
}

// alpha * a' * b' + beta * c
absl::Status Gemm(NodeImport& node) {
  if (node.rank(0) != 2 || node.rank(1) != 2) {
    return node.Invalid(
        absl::StrCat("ranks ", node.rank(0), " and ", node.rank(1)),
        "two matrices");
  }
  PARTITA_ASSIGN_OR_RETURN(
      ValueId value, node.Add(kMatmul, {node.input(0), node.input(1)},
                              {{"transpose_a", node.Flag("transA", false)},
                               {"transpose_b", node.Flag("transB", false)}}));
  PARTITA_ASSIGN_OR_RETURN(
      value, Scaled(node, value, "alpha", node.Float("alpha", 1)));
  const double beta = node.Float("beta", 1);
  if (!node.has_input(2) || beta == 0) return node.Set(0, value);
  PARTITA_ASSIGN_OR_RETURN(const ValueId c,
                           Scaled(node, node.input(2), "beta", beta));
  return node.Return(node.Add(kAdd, {value, c}));
}

std::vector<int64_t> KernelOf(const TensorType& weights) {
  if (weights.rank() < 3) return {};
  return {weights.dims.begin() + 2, weights.dims.end()};
}

ValueIds Operands(NodeImport& node) {
  ValueIds operands = {node.input(0), node.input(1)};
  if (node.has_input(2)) operands.push_back(node.input(2));
  return operands;
}

absl::Status Conv(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const OnnxWindow window,
      ReadWindow(node, node.type(0).dims, KernelOf(node.type(1))));
  Attributes attributes = WindowAttributes(window);
  attributes.Set("groups", node.Int("group", 1));
  return node.Return(node.Add(kConv, Operands(node), std::move(attributes)));
}

// Padding that gives the extents of output_shape or auto_pad.
absl::Status PadToShape(NodeImport& node, OnnxWindow& window,
                        std::vector<int64_t>& output_padding) {
  std::vector<int64_t> shape = node.IntList("output_shape");
  const std::string auto_pad = node.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (shape.empty() && !same) return absl::OkStatus();
  const Shape& dims = node.type(0).dims;
  const size_t spatial = window.kernel.size();
  if (shape.empty()) {
    for (size_t i = 0; i < spatial; ++i) {
      shape.push_back(dims[i + 2] * window.strides[i]);
    }
  }
  if (shape.size() > spatial) shape.erase(shape.begin(), shape.end() - spatial);
  PARTITA_RETURN_IF_ERROR(
      CheckSpatialList(node, "of output_shape", shape, spatial, 0));
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t total = window.strides[i] * (dims[i + 2] - 1) + output_padding[i] +
                    reach - shape[i];
    // Positions that no element reaches are at the end.
    if (total < 0) {
      output_padding[i] -= total;
      total = 0;
    }
    window.before[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.after[i] = total - window.before[i];
  }
  return absl::OkStatus();
}

absl::Status ConvTranspose(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      OnnxWindow window,
      ReadWindow(node, node.type(0).dims, KernelOf(node.type(1))));
  std::vector<int64_t> output_padding = node.IntList("output_padding");
  if (output_padding.empty()) output_padding.assign(window.kernel.size(), 0);
  PARTITA_RETURN_IF_ERROR(CheckSpatialList(
      node, "output_padding", output_padding, window.kernel.size(), 0));
  PARTITA_RETURN_IF_ERROR(PadToShape(node, window, output_padding));
  Attributes attributes = WindowAttributes(window);
  attributes.Set("groups", node.Int("group", 1));
  attributes.Set("output_padding", std::move(output_padding));
  return node.Return(
      node.Add(kConvTranspose, Operands(node), std::move(attributes)));
}

absl::Status Det(NodeImport& node) {
  return node.Return(node.Add(kDet, {node.input(0)}));
}

constexpr ConverterRow kRows[] = {
    {"Conv", Conv, 2, 1, "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose", ConvTranspose, 2, 1,
     "auto_pad dilations group kernel_shape output_padding output_shape pads "
     "strides"},
    {"Det", Det, 1},
    {"Gemm", Gemm, 2, 1, "alpha beta transA transB"},
    {"MatMul", MatMul, 2},
};

}  // namespace

extern constinit const ConverterFamily kLinearConverters = {kRows};

}  // namespace partita
