// ONNX ops that select and place elements by index.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

template <const OpDef& op>
absl::Status AlongAxis(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", 0), node.rank(0)));
  return node.Return(
      node.Add(op, {node.input(0), node.input(1)}, {{"axis", axis}}));
}

absl::Status GatherNd(NodeImport& node) {
  return node.Return(node.Add(kGatherNd, {node.input(0), node.input(1)},
                              {{"batch_dims", node.Int("batch_dims", 0)}}));
}

absl::Status ScatterElements(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", 0), node.rank(0)));
  return node.Return(node.Add(
      kScatterElements, {node.input(0), node.input(1), node.input(2)},
      {{"axis", axis}, {"reduction", node.String("reduction", "none")}}));
}

absl::Status ScatterNd(NodeImport& node) {
  return node.Return(
      node.Add(kScatterNd, {node.input(0), node.input(1), node.input(2)},
               {{"reduction", node.String("reduction", "none")}}));
}

// Exact as a double, and more classes than memory can hold.
constexpr int64_t kMaxOneHotDepth = int64_t{1} << 46;

// Indices of any number type; the values are [off, on].
absl::Status OneHot(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* depth,
                           node.Constant(1, "the depth"));
  if (depth->type().num_elements() != 1) {
    return node.Invalid(depth->type().ToString(), "a depth of one element");
  }
  const double classes = GetAsDouble(*depth, 0);
  if (!(classes >= 0 && classes <= kMaxOneHotDepth)) {
    return node.Invalid(absl::StrCat("depth ", classes),
                        absl::StrCat("0..", kMaxOneHotDepth));
  }
  ValueId indices = node.input(0);
  const DType dtype = node.type(0).dtype;
  if (dtype != DType::kI64 && dtype != DType::kI32) {
    PARTITA_ASSIGN_OR_RETURN(indices,
                             node.Add(kCast, {indices}, {{"to", DType::kI64}}));
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0) + 1));
  return node.Return(
      node.Add(kOneHot, {indices, node.input(2)},
               {{"depth", static_cast<int64_t>(classes)}, {"axis", axis}}));
}

absl::Status TopK(NodeImport& node) {
  int64_t k = 0;
  if (!node.has_input(1)) {
    k = node.Int("k", 0);
  } else {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                             node.Ints(1, "k"));
    if (values.size() != 1) return node.Invalid("no k", "one k");
    k = values[0];
  }
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -1), node.rank(0)));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueIds results,
      node.AddAll(
          kTopK, {node.input(0)},
          {{"k", k}, {"axis", axis}, {"largest", node.Flag("largest", true)}}));
  for (int i = 0; i < node.num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(node.Set(i, results[i]));
  }
  return absl::OkStatus();
}

// The update has the cache's extents, except that it may be shorter along the
// axis.
absl::Status CheckCacheUpdate(const NodeImport& node, int64_t axis) {
  TensorType most = node.type(0);
  const TensorType& update = node.type(1);
  if (update.rank() == most.rank() && update.dims[axis] <= most.dims[axis]) {
    most.dims[axis] = update.dims[axis];
  }
  if (update.dtype != most.dtype || update.dims != most.dims) {
    return node.Invalid(
        absl::StrCat("input 1 ", update.ToString()),
        absl::StrCat(most.ToString(), ", or less in dimension ", axis));
  }
  const TensorType places{DType::kI64, {most.dims[0]}, {}};
  if (!node.has_input(2) || (node.type(2).dtype == places.dtype &&
                             node.type(2).dims == places.dims)) {
    return absl::OkStatus();
  }
  return node.Invalid(absl::StrCat("input 2 ", node.type(2).ToString()),
                      absl::StrCat(places.ToString(), ", a place a sample"));
}

// Writes an update into a cache, from a position of its own for each sample.
absl::Status TensorScatter(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", -2), node.rank(0)));
  if (axis == 0) return node.Invalid("axis 0, the batch", "another axis");
  PARTITA_ASSIGN_OR_RETURN(
      const std::string mode,
      node.Choice("mode", "linear", {"linear", "circular"}));
  PARTITA_RETURN_IF_ERROR(CheckCacheUpdate(node, axis));
  Composition c(node);
  const Expr cache = c.Input(0), update = c.Input(1);
  std::vector<int64_t> shape(cache.rank(), 1);
  shape[axis] = update.dim(axis);
  Expr places = c.Iota(0, update.dim(axis)).Reshaped(shape);
  if (node.has_input(2)) {
    shape[axis] = 1;
    shape[0] = cache.dim(0);
    places = places + c.Input(2).Reshaped(shape);
  }
  if (mode == "circular") {
    places = Joined(kMod, places, static_cast<double>(cache.dim(axis)));
  }
  return c.Return(c.Add(kScatterElements,
                        {cache, places.Expanded(update.dims()), update},
                        {{"axis", axis}, {"reduction", std::string("none")}}));
}

// Reverses the first elements of each sequence, up to its length.
absl::Status ReverseSequence(NodeImport& node) {
  const int64_t time_axis = node.Int("time_axis", 0);
  const int64_t batch_axis = node.Int("batch_axis", 1);
  const TensorType& x = node.type(0);
  const bool axes = (time_axis == 0 && batch_axis == 1) ||
                    (time_axis == 1 && batch_axis == 0);
  if (!axes || x.rank() < 2 || node.type(1).dims != Shape{x.dims[batch_axis]}) {
    return node.Invalid(
        absl::StrCat("time_axis ", time_axis, ", batch_axis ", batch_axis,
                     " and lengths ", node.type(1).ToString(), " for ",
                     x.ToString()),
        "axes 0 and 1 in either order, and a length for each of the batch");
  }
  Composition c(node);
  const int64_t steps = x.dims[time_axis];
  const int64_t count = x.dims[batch_axis];
  std::vector<int64_t> perm(x.rank());
  std::iota(perm.begin(), perm.end(), 0);
  perm[0] = batch_axis;
  perm[1] = time_axis;
  const Expr lengths = c.Input(1).Cast(DType::kI64).Reshaped({count, 1});
  const Expr time = c.Iota(0, steps).Reshaped({1, steps});
  const Expr indices =
      Choose(Joined(kLess, time, lengths), lengths - 1 - time, time);
  const Expr reversed =
      c.Add(kGatherNd, {c.Input(0).Transposed(perm), indices.Unsqueezed(2)},
            {{"batch_dims", int64_t{1}}});
  return c.Return(reversed.Transposed(perm));
}

constexpr ConverterRow kRows[] = {
    {"Gather", AlongAxis<kGather>, 2, 1, "axis"},
    {"GatherElements", AlongAxis<kGatherElements>, 2, 1, "axis"},
    {"GatherND", GatherNd, 2, 1, "batch_dims"},
    {"OneHot", OneHot, 3, 1, "axis"},
    {"ReverseSequence", ReverseSequence, 2, 1, "batch_axis time_axis"},
    {"Scatter", ScatterElements, 3, 1, "axis"},  // the name until opset 10
    {"ScatterElements", ScatterElements, 3, 1, "axis reduction"},
    {"ScatterND", ScatterNd, 3, 1, "reduction"},
    {"TensorScatter", TensorScatter, 2, 1, "axis mode"},
    {"TopK", TopK, 1, 2, "axis k largest"},
};

}  // namespace

extern constinit const ConverterFamily kIndexConverters = {kRows};

}  // namespace partita
