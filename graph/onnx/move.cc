// ONNX ops that move elements: transposes, slices, joins, padding.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

absl::Status Transpose(NodeImport& node) {
  Ints perm = node.IntList("perm");
  if (perm.empty()) {
    perm.resize(node.rank(0));
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  return node.Return(
      node.Add(kTranspose, {node.input(0)}, {{"perm", std::move(perm)}}));
}

absl::Status Concat(NodeImport& node) {
  if (!node.has_attr("axis")) {
    return node.Invalid("no attribute axis", "the dimension to join along");
  }
  ValueIds operands;
  for (int i = 0; i < node.num_inputs(); ++i) operands.push_back(node.input(i));
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", 1), node.rank(0)));
  if (operands.size() == 1) return node.Set(0, operands[0]);
  return node.Return(node.Add(kConcat, std::move(operands), {{"axis", axis}}));
}

// Sizes are an attribute, an input, or equal; from opset 18 on the last one may
// be smaller.
absl::StatusOr<Ints> SplitSizes(NodeImport& node, int64_t extent) {
  Ints sizes = node.IntList("split");
  if (node.has_input(1)) return node.Ints(1, "split");
  if (!sizes.empty()) return sizes;
  const int64_t count = node.Int("num_outputs", node.num_outputs());
  if (count <= 0 || count != node.num_outputs()) {
    return node.Invalid(absl::StrCat("num_outputs ", count),
                        absl::StrCat(node.num_outputs(), ", one per output"));
  }
  const int64_t size = (extent + count - 1) / count;
  const int64_t last = extent - (count - 1) * size;
  if (last < 0 || (last != size && node.opset() < 18)) {
    return OfExtents(node.Invalid(
        absl::StrCat("extent ", extent, " for ", count, " outputs"),
        node.opset() < 18 ? "an extent that they divide, or their sizes"
                          : "parts of one size with a smaller one at the end, "
                            "or their sizes"));
  }
  sizes.assign(count, size);
  sizes.back() = last;
  return sizes;
}

absl::Status Split(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(node.Int("axis", 0), node.rank(0)));
  PARTITA_ASSIGN_OR_RETURN(Ints sizes,
                           SplitSizes(node, node.type(0).dims[axis]));
  if (static_cast<int>(sizes.size()) != node.num_outputs()) {
    return node.Invalid(absl::StrCat(sizes.size(), " sizes"),
                        absl::StrCat(node.num_outputs(), ", one per output"));
  }
  PARTITA_ASSIGN_OR_RETURN(
      const ValueIds results,
      node.AddAll(kSplit, {node.input(0)},
                  {{"axis", axis}, {"sizes", std::move(sizes)}}));
  for (size_t i = 0; i < results.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(node.Set(static_cast<int>(i), results[i]));
  }
  return absl::OkStatus();
}

// The elements of a slice along one axis.
struct Taken {
  int64_t start;
  int64_t size;
};

// As in the standard, and unlike NumPy, a start before the axis is its first
// element for negative steps too.
Taken Take(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const auto wrap = [extent](int64_t i) { return i < 0 ? i + extent : i; };
  if (step > 0) {
    start = std::clamp<int64_t>(wrap(start), 0, extent);
    end = std::clamp<int64_t>(wrap(end), 0, extent);
    const int64_t span = std::max<int64_t>(0, end - start);
    return {start, span / step + (span % step != 0)};
  }
  if (extent == 0) return {0, 0};
  start = std::clamp<int64_t>(wrap(start), 0, extent - 1);
  // Very negative ends mean "past the first element", also after wrapping.
  end = std::clamp<int64_t>(wrap(end), -1, extent - 1);
  const int64_t span = std::max<int64_t>(0, start - end);
  if (span == 0) return {0, 0};
  // -step may not be representable, and any step above the extent takes one
  // element.
  const int64_t stride = step < -extent ? extent : -step;
  return {start, span / stride + (span % stride != 0)};
}

struct SliceSpec {
  Ints starts, ends, axes, steps;
};

absl::StatusOr<SliceSpec> ReadSlice(NodeImport& node) {
  SliceSpec spec;
  if (node.opset() < 10) {
    spec = {
        node.IntList("starts"), node.IntList("ends"), node.IntList("axes"), {}};
  } else {
    PARTITA_ASSIGN_OR_RETURN(spec.starts, node.Ints(1, "starts"));
    PARTITA_ASSIGN_OR_RETURN(spec.ends, node.Ints(2, "ends"));
    if (node.has_input(3)) {
      PARTITA_ASSIGN_OR_RETURN(spec.axes, node.Ints(3, "axes"));
    }
    if (node.has_input(4)) {
      PARTITA_ASSIGN_OR_RETURN(spec.steps, node.Ints(4, "steps"));
    }
  }
  if (spec.axes.empty()) {
    spec.axes.resize(spec.starts.size());
    std::iota(spec.axes.begin(), spec.axes.end(), 0);
  }
  if (spec.steps.empty()) spec.steps.assign(spec.starts.size(), 1);
  const size_t count = spec.starts.size();
  if (spec.ends.size() != count || spec.axes.size() != count ||
      spec.steps.size() != count) {
    return node.Invalid("starts, ends, axes and steps of unequal length",
                        "one entry each per sliced axis");
  }
  return spec;
}

absl::Status Slice(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(SliceSpec spec, ReadSlice(node));
  PARTITA_ASSIGN_OR_RETURN(spec.axes,
                           node.Axes(std::move(spec.axes), node.rank(0)));
  const Shape& dims = node.type(0).dims;
  Ints starts(dims.size(), 0);
  Ints sizes(dims.begin(), dims.end());
  Ints steps(dims.size(), 1);
  for (size_t i = 0; i < spec.axes.size(); ++i) {
    const int64_t axis = spec.axes[i];
    if (spec.steps[i] == 0) return node.Invalid("step 0", "any other step");
    const Taken taken =
        Take(spec.starts[i], spec.ends[i], spec.steps[i], dims[axis]);
    starts[axis] = taken.start;
    sizes[axis] = taken.size;
    // With one element or none, the step has no effect.
    steps[axis] = taken.size > 1 ? spec.steps[i] : 1;
  }
  return node.Return(node.Add(kSlice, {node.input(0)},
                              {{"starts", std::move(starts)},
                               {"sizes", std::move(sizes)},
                               {"steps", std::move(steps)}}));
}

absl::StatusOr<Number> PadValue(NodeImport& node) {
  if (!node.has_input(2)) return Number(node.Float("value", 0));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* value,
                           node.Constant(2, "the padding value"));
  if (value->type().num_elements() != 1) {
    return node.Invalid(value->type().ToString(), "a value of one element");
  }
  return GetNumber(*value, 0);
}

// What negative pads leave of a dimension wraps around to its other end.
absl::Status Wrapped(NodeImport& node, const Ints& before, const Ints& after) {
  Composition c(node);
  Expr y = c.Input(0);
  for (int d = 0; d < static_cast<int>(before.size()); ++d) {
    y = y.Padded(d, std::min<int64_t>(before[d], 0),
                 std::min<int64_t>(after[d], 0));
    const int64_t first = std::max<int64_t>(before[d], 0);
    const int64_t last = std::max<int64_t>(after[d], 0);
    if (first == 0 && last == 0) continue;
    const int64_t extent = y.dim(d);
    if (extent < 1 || extent > kMaxTable || first > kMaxTable ||
        last > kMaxTable) {
      return node.Invalid(
          absl::StrCat("pads ", before[d], " and ", after[d],
                       " of an extent of ", extent),
          absl::StrCat("elements, and both of ", kMaxTable, " at most"));
    }
    Ints indices(first + extent + last);
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t at = (static_cast<int64_t>(i) - first) % extent;
      indices[i] = at < 0 ? at + extent : at;
    }
    const int64_t count = static_cast<int64_t>(indices.size());
    y = y.Gathered(c.Ints({count}, indices), d);
  }
  return c.Return(y);
}

absl::Status Pad(NodeImport& node) {
  const size_t rank = static_cast<size_t>(node.rank(0));
  Ints pads = node.IntList("pads");
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(pads, node.Ints(1, "pads"));
  }
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has_input(3)) {
    PARTITA_ASSIGN_OR_RETURN(Ints given, node.Ints(3, "axes"));
    PARTITA_ASSIGN_OR_RETURN(axes, node.Axes(std::move(given), node.rank(0)));
  }
  if (pads.size() != 2 * axes.size()) {
    return node.Invalid(absl::StrCat(pads.size(), " pads"),
                        absl::StrCat(2 * axes.size()));
  }
  Ints before(rank, 0);
  Ints after(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    before[axes[i]] = pads[i];
    after[axes[i]] = pads[i + axes.size()];
  }
  const std::string mode = node.String("mode", "constant");
  if (mode == "wrap") return Wrapped(node, before, after);
  PARTITA_ASSIGN_OR_RETURN(const Number value, PadValue(node));
  return node.Return(node.Add(kPad, {node.input(0)},
                              {{"before", std::move(before)},
                               {"after", std::move(after)},
                               {"mode", mode},
                               {"value", value}}));
}

// The middle of the operand, or the operand in the middle of zeros; if halves
// are uneven, the end has one more.
absl::Status CenterCropPad(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints shape, node.Ints(1, "shape"));
  Ints axes = node.IntList("axes");
  if (!node.has_attr("axes")) {
    axes.resize(node.rank(0));
    std::iota(axes.begin(), axes.end(), 0);
  }
  PARTITA_ASSIGN_OR_RETURN(axes, node.Axes(std::move(axes), node.rank(0)));
  if (shape.size() != axes.size()) {
    return node.Invalid(absl::StrCat(shape.size(), " extents"),
                        absl::StrCat(axes.size(), ", one per axis"));
  }
  Composition c(node);
  Expr y = c.Input(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const int64_t extent = node.type(0).dims[axis];
    if (shape[i] < 0 || shape[i] > kMaxTensorBytes) {
      return node.Invalid(absl::StrCat("extent ", shape[i]),
                          "extents of 0 or more");
    }
    const int64_t more = shape[i] - extent;
    y = more < 0 ? y.Sliced(axis, -more / 2, shape[i])
                 : y.Padded(axis, more / 2, more - more / 2);
  }
  return c.Return(y);
}

absl::Status Tile(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Ints repeats, node.Ints(1, "repeats"));
  return node.Return(
      node.Add(kTile, {node.input(0)}, {{"repeats", std::move(repeats)}}));
}

absl::StatusOr<bool> IsCrd(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const std::string mode,
                           node.Choice("mode", "DCR", {"DCR", "CRD"}));
  return mode == "CRD";
}

absl::Status DepthToSpace(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const bool crd, IsCrd(node));
  return node.Return(node.Add(
      kDepthToSpace, {node.input(0)},
      {{"block", node.Int("blocksize", 1)}, {"mode", crd ? "crd" : "dcr"}}));
}

// Channels [block block, c] as [c, block block].
absl::StatusOr<ValueId> ChannelsOutside(NodeImport& node, ValueId depth) {
  const Shape d = node.graph().type(depth).dims;
  const int64_t c = node.type(0).dims[1];
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId apart,
      node.Reshape(depth, {d[0], c == 0 ? 0 : d[1] / c, c, d[2], d[3]}));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId turned,
      node.Add(kTranspose, {apart}, {{"perm", Ints{0, 2, 1, 3, 4}}}));
  return node.Reshape(turned, d);
}

absl::Status SpaceToDepth(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const bool crd, IsCrd(node));
  PARTITA_ASSIGN_OR_RETURN(const ValueId depth,
                           node.Add(kSpaceToDepth, {node.input(0)},
                                    {{"block", node.Int("blocksize", 1)}}));
  return node.Return(crd ? ChannelsOutside(node, depth) : depth);
}

absl::Status Trilu(NodeImport& node) {
  int64_t k = 0;
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(const Ints values, node.Ints(1, "k"));
    if (!values.empty()) k = values[0];
  }
  return node.Return(node.Add(kTrilu, {node.input(0)},
                              {{"upper", node.Flag("upper", true)}, {"k", k}}));
}

template <const OpDef& op>
absl::Status Running(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, node.Ints(1, "axis"));
  if (axes.size() != 1) return node.Invalid("no axis", "one axis");
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(axes[0], node.rank(0)));
  return node.Return(node.Add(op, {node.input(0)},
                              {{"axis", axis},
                               {"exclusive", node.Flag("exclusive", false)},
                               {"reverse", node.Flag("reverse", false)}}));
}

constexpr ConverterRow kRows[] = {
    {"CenterCropPad", CenterCropPad, 2, 1, "axes"},
    {"Concat", Concat, kEvery, 1, "axis"},
    {"CumProd", Running<kCumprod>, 2, 1, "exclusive reverse"},
    {"CumSum", Running<kCumsum>, 2, 1, "exclusive reverse"},
    {"DepthToSpace", DepthToSpace, 1, 1, "blocksize mode"},
    {"Pad", Pad, 1, 1, "mode pads value"},
    {"Slice", Slice, 1, 1, "axes ends starts"},
    {"SpaceToDepth", SpaceToDepth, 1, 1, "blocksize mode"},
    {"Split", Split, 1, kAnyNumber, "axis num_outputs split"},
    {"Tile", Tile, 2},
    {"Transpose", Transpose, 1, 1, "perm"},
    {"Trilu", Trilu, 1, 1, "upper"},
};

}  // namespace

extern constinit const ConverterFamily kMoveConverters = {kRows};

}  // namespace partita
