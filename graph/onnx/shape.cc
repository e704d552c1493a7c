// ONNX ops that change or query shapes.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// 0 keeps an extent (unless allowzero); one -1 takes the rest.
absl::StatusOr<Ints> ResolveShape(NodeImport& node, Ints shape, bool zeros) {
  const TensorType& x = node.type(0);
  int64_t known = 1;
  int unknown = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zeros) {
      if (static_cast<int>(i) >= x.rank()) {
        return node.Invalid(absl::StrCat("0 at position ", i),
                            "0 only where the operand has an extent to keep");
      }
      shape[i] = x.dims[i];
    }
    if (shape[i] == -1 && unknown < 0) {
      unknown = static_cast<int>(i);
      continue;
    }
    if (shape[i] < 0 || (shape[i] != 0 && known > kMaxTensorBytes / shape[i])) {
      return node.Invalid(
          absl::StrCat("shape [", absl::StrJoin(shape, ", "), "]"),
          "extents of 0 or more and at most one -1");
    }
    known *= shape[i];
  }
  if (unknown < 0) return shape;
  if (known == 0 || x.num_elements() % known != 0) {
    return OfExtents(
        node.Invalid(absl::StrCat("shape [", absl::StrJoin(shape, ", "),
                                  "] for ", x.ToString()),
                     "extents that divide the number of elements"));
  }
  shape[unknown] = x.num_elements() / known;
  return shape;
}

absl::Status Reshape(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Ints shape, node.Ints(1, "shape"));
  PARTITA_ASSIGN_OR_RETURN(shape, ResolveShape(node, std::move(shape),
                                               node.Flag("allowzero", false)));
  return node.Return(node.Reshape(node.input(0), shape));
}

absl::Status Flatten(NodeImport& node) {
  const Shape dims = node.type(0).dims;
  int64_t axis = node.Int("axis", 1);
  if (axis < 0) axis += node.rank(0);
  if (axis < 0 || axis > node.rank(0)) {
    return node.Invalid(absl::StrCat("axis ", axis),
                        absl::StrCat("0..", node.rank(0)));
  }
  int64_t rows = 1;
  int64_t columns = 1;
  for (int i = 0; i < node.rank(0); ++i) (i < axis ? rows : columns) *= dims[i];
  return node.Return(node.Reshape(node.input(0), {rows, columns}));
}

// The axes are an attribute up to opset 12, an input from 13 on.
absl::StatusOr<Ints> AxesOf(NodeImport& node, int rank) {
  Ints axes = node.IntList("axes");
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(axes, node.Ints(1, "axes"));
  }
  return node.Axes(std::move(axes), rank);
}

absl::Status Squeeze(NodeImport& node) {
  const Shape dims = node.type(0).dims;
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, AxesOf(node, node.rank(0)));
  Ints shape;
  for (int i = 0; i < node.rank(0); ++i) {
    const bool named = absl::c_linear_search(axes, i);
    if (named && dims[i] != 1) {
      return OfExtents(
          node.Invalid(absl::StrCat("extent ", dims[i], " at axis ", i), "1"));
    }
    if (!(named || (axes.empty() && dims[i] == 1))) shape.push_back(dims[i]);
  }
  return node.Return(node.Reshape(node.input(0), shape));
}

absl::Status Unsqueeze(NodeImport& node) {
  const Shape dims = node.type(0).dims;
  const size_t given = node.has_input(1)
                           ? static_cast<size_t>(node.type(1).num_elements())
                           : node.IntList("axes").size();
  const int rank = static_cast<int>(std::min<size_t>(dims.size() + given, 64));
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, AxesOf(node, rank));
  Ints shape;
  size_t next = 0;
  for (int i = 0; i < rank; ++i) {
    const bool added = absl::c_linear_search(axes, i);
    shape.push_back(added ? 1 : dims[next++]);
  }
  return node.Return(node.Reshape(node.input(0), shape));
}

absl::Status ShapeOf(NodeImport& node) {
  const int64_t rank = node.rank(0);
  const auto clamped = [rank](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const int64_t start = clamped(node.Int("start", 0));
  const int64_t end = clamped(node.Int("end", rank));
  return node.Return(
      node.Add(kShape, {node.input(0)},
               {{"start", start}, {"end", std::max(start, end)}}));
}

absl::Status SizeOf(NodeImport& node) {
  return node.Return(node.Add(kSize, {node.input(0)}));
}

// Broadcasting goes both ways: an extent of 1 in the shape keeps the operand's.
absl::Status Expand(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Ints shape, node.Ints(1, "shape"));
  const Shape& dims = node.type(0).dims;
  if (shape.size() < dims.size()) {
    shape.insert(shape.begin(), dims.size() - shape.size(), 1);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t& extent = shape[shape.size() - dims.size() + i];
    if (extent == 1) extent = dims[i];
  }
  return node.Return(
      node.Add(kExpand, {node.input(0)}, {{"shape", std::move(shape)}}));
}

constexpr ConverterRow kRows[] = {
    {"Expand", Expand, 2},
    {"Flatten", Flatten, 1, 1, "axis"},
    {"Reshape", Reshape, 2, 1, "allowzero"},
    {"Shape", ShapeOf, 1, 1, "end start"},
    {"Size", SizeOf, 1},
    {"Squeeze", Squeeze, 1, 1, "axes"},
    {"Unsqueeze", Unsqueeze, 1, 1, "axes"},
};

}  // namespace

extern constinit const ConverterFamily kShapeConverters = {kRows};

}  // namespace partita
