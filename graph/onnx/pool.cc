// ONNX's pools.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
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

// Positions in row-major order, as if the first dimension were the innermost.
Expr FirstInnermost(const Expr& positions, const Shape& dims) {
  const Shape strides = RowMajorStrides(dims);
  Expr sum = positions * 0;
  double stride = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Expr index = Joined(
        kMod, positions / static_cast<double>(std::max<int64_t>(strides[d], 1)),
        static_cast<double>(std::max<int64_t>(dims[d], 1)));
    sum = sum + index * stride;
    stride *= static_cast<double>(dims[d]);
  }
  return sum;
}

// Indices of the maxima, in all of the operand.
Expr Indices(Composition& c, const Attributes& attributes, bool row_major) {
  const Shape dims = c.node().type(0).dims;
  const Shape plane(dims.begin() + 2, dims.end());
  const Expr within = c.Input(0).Apply(kMaxPoolIndices, attributes);
  const Expr placed = row_major ? within : FirstInnermost(within, plane);
  std::vector<int64_t> planes(dims.size(), 1);
  planes[0] = dims[0];
  planes[1] = dims[1];
  const Expr starts =
      c.Iota(0, dims[0] * dims[1]) * static_cast<double>(Product(plane));
  return placed + starts.Reshaped(planes);
}

absl::Status MaxPool(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Attributes attributes, PoolAttributes(node));
  const bool row_major = !node.Flag("storage_order", false);
  Composition c(node);
  if (node.has_output(1)) c.Set(1, Indices(c, attributes, row_major));
  return c.Return(c.Input(0).Apply(kMaxPool, attributes));
}

// The p-th root of the sum of p-th powers: a convolution with ones.
absl::Status LpPool(NodeImport& node) {
  const Shape dims = node.type(0).dims;
  PARTITA_ASSIGN_OR_RETURN(OnnxWindow window, ReadWindow(node, dims, {}));
  const int64_t p = node.Int("p", 2);
  if (p < 1) return node.Invalid(absl::StrCat("p ", p), "1 or more");
  for (size_t d = 0; d < window.ceil_extra.size(); ++d) {
    window.after[d] += window.ceil_extra[d];
  }
  Composition c(node);
  const Expr x = c.Input(0).Apply(kAbs);
  std::vector<int64_t> filters = {dims[1], 1};
  filters.insert(filters.end(), window.kernel.begin(), window.kernel.end());
  Attributes attributes = WindowAttributes(window);
  attributes.Set("groups", dims[1]);
  const Expr powers = p == 1   ? x
                      : p == 2 ? x * x
                               : Joined(kPow, x, static_cast<double>(p));
  const Expr sums =
      c.Add(kConv, {powers, c.Scalar(x.dtype(), 1).Expanded(filters)},
            std::move(attributes));
  return c.Return(p == 1   ? sums
                  : p == 2 ? sums.Apply(kSqrt)
                           : Joined(kPow, sums, 1 / static_cast<double>(p)));
}

absl::Status AveragePool(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Attributes attributes, PoolAttributes(node));
  attributes.Set("count_include_pad", node.Flag("count_include_pad", false));
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
    {"LpPool", LpPool, 1, 1,
     "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MaxPool", MaxPool, 1, 2,
     "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
};

}  // namespace

extern constinit const ConverterFamily kPoolConverters = {kRows};

}  // namespace partita
