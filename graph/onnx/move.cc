// ONNX ops that move elements: transposes, slices, joins, padding, resizing.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/ops/op_list.h"
#include "graph/ops/resample.h"
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
    return node.Invalid(
        absl::StrCat("extent ", extent, " for ", count, " outputs"),
        node.opset() < 18 ? "an extent that they divide, or their sizes"
                          : "parts of one size with a smaller one at the end, "
                            "or their sizes");
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

// What a slice takes along one axis, with numpy's clamping.
struct Taken {
  int64_t start;
  int64_t size;
};

Taken Take(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const auto wrap = [extent](int64_t i) { return i < 0 ? i + extent : i; };
  if (step > 0) {
    start = std::clamp<int64_t>(wrap(start), 0, extent);
    end = std::clamp<int64_t>(wrap(end), 0, extent);
    const int64_t span = std::max<int64_t>(0, end - start);
    return {start, span / step + (span % step != 0)};
  }
  // Very negative ends mean "past the first element", also after wrapping.
  start = std::clamp<int64_t>(wrap(start), -1, extent - 1);
  end = std::clamp<int64_t>(wrap(end), -1, extent - 1);
  const int64_t span = std::max<int64_t>(0, start - end);
  if (span == 0 || start < 0) return {0, 0};
  // -step may not be representable, and any step beyond the extent takes one.
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
    // One element or none: the step is never taken.
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
  PARTITA_ASSIGN_OR_RETURN(const Number value, PadValue(node));
  return node.Return(node.Add(kPad, {node.input(0)},
                              {{"before", std::move(before)},
                               {"after", std::move(after)},
                               {"mode", node.String("mode", "constant")},
                               {"value", value}}));
}

absl::Status Tile(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(Ints repeats, node.Ints(1, "repeats"));
  return node.Return(
      node.Add(kTile, {node.input(0)}, {{"repeats", std::move(repeats)}}));
}

absl::Status DepthToSpace(NodeImport& node) {
  const std::string mode = node.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return node.Invalid(absl::StrCat("mode ", mode), "DCR or CRD");
  }
  const bool crd = mode == "CRD";
  return node.Return(node.Add(
      kDepthToSpace, {node.input(0)},
      {{"block", node.Int("blocksize", 1)}, {"mode", crd ? "crd" : "dcr"}}));
}

absl::Status SpaceToDepth(NodeImport& node) {
  return node.Return(node.Add(kSpaceToDepth, {node.input(0)},
                              {{"block", node.Int("blocksize", 1)}}));
}

struct ResizeSpec {
  Ints sizes;
  std::vector<double> scales;
};

std::vector<double> Doubles(const HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    values.push_back(GetAsDouble(tensor, i));
  }
  return values;
}

absl::StatusOr<ResizeSpec> SpecOf(NodeImport& node, int scales_at,
                                  int sizes_at) {
  const Shape& dims = node.type(0).dims;
  ResizeSpec spec;
  if (node.has_input(sizes_at)) {
    PARTITA_ASSIGN_OR_RETURN(spec.sizes, node.Ints(sizes_at, "sizes"));
    if (spec.sizes.size() != dims.size()) {
      return node.Invalid(absl::StrCat(spec.sizes.size(), " sizes"),
                          absl::StrCat(dims.size()));
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      spec.scales.push_back(dims[i] == 0 ? 1.0
                                         : static_cast<double>(spec.sizes[i]) /
                                               static_cast<double>(dims[i]));
    }
    return spec;
  }
  if (node.has_attr("scales")) {
    spec.scales = node.FloatList("scales");
  } else {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* scales,
                             node.Constant(scales_at, "scales"));
    spec.scales = Doubles(*scales);
  }
  if (spec.scales.size() != dims.size()) {
    return node.Invalid(absl::StrCat(spec.scales.size(), " scales"),
                        absl::StrCat(dims.size()));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = ResizedExtent(dims[i], spec.scales[i]);
    if (size < 0) {
      return node.Invalid(absl::StrCat("scale ", spec.scales[i]),
                          "a positive scale of reasonable size");
    }
    spec.sizes.push_back(size);
  }
  return spec;
}

absl::Status AddResize(NodeImport& node, ResizeSpec spec, std::string mode,
                       std::string coordinates, std::string nearest) {
  return node.Return(
      node.Add(kResize, {node.input(0)},
               {{"mode", std::move(mode)},
                {"sizes", std::move(spec.sizes)},
                {"scales", std::move(spec.scales)},
                {"coordinates", std::move(coordinates)},
                {"nearest", std::move(nearest)},
                {"cubic_a", node.Float("cubic_coeff_a", -0.75)},
                {"exclude_outside", node.Int("exclude_outside", 0) != 0}}));
}

absl::Status Resize(NodeImport& node) {
  if (node.has_attr("axes") || node.Int("antialias", 0) != 0 ||
      node.String("keep_aspect_ratio_policy", "stretch") != "stretch") {
    return node.Unsupported("axes, antialias or keep_aspect_ratio_policy",
                            "a resize of opset 17 or older");
  }
  const std::string mode = node.String("mode", "nearest");
  if (node.opset() < 11) {
    PARTITA_ASSIGN_OR_RETURN(ResizeSpec spec, SpecOf(node, 1, 99));
    return AddResize(node, std::move(spec), mode, "asymmetric", "floor");
  }
  const std::string coordinates =
      node.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize") {
    return node.Unsupported("coordinate mode tf_crop_and_resize",
                            "half_pixel, pytorch_half_pixel, align_corners, "
                            "asymmetric or tf_half_pixel_for_nn");
  }
  node.Ignore("extrapolation_value");  // only for tf_crop_and_resize
  PARTITA_ASSIGN_OR_RETURN(ResizeSpec spec, SpecOf(node, 2, 3));
  return AddResize(node, std::move(spec), mode, coordinates,
                   node.String("nearest_mode", "round_prefer_floor"));
}

// The older name: scales only, no choice of coordinates.
absl::Status Upsample(NodeImport& node) {
  const std::string mode = node.String("mode", "nearest");
  PARTITA_ASSIGN_OR_RETURN(ResizeSpec spec, SpecOf(node, 1, 99));
  return AddResize(node, std::move(spec), mode == "bilinear" ? "linear" : mode,
                   "asymmetric", "floor");
}

absl::Status Trilu(NodeImport& node) {
  int64_t k = 0;
  if (node.has_input(1)) {
    PARTITA_ASSIGN_OR_RETURN(const Ints values, node.Ints(1, "k"));
    if (!values.empty()) k = values[0];
  }
  return node.Return(
      node.Add(kTrilu, {node.input(0)},
               {{"upper", node.Int("upper", 1) != 0}, {"k", k}}));
}

absl::Status CumSum(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, node.Ints(1, "axis"));
  if (axes.size() != 1) return node.Invalid("no axis", "one axis");
  PARTITA_ASSIGN_OR_RETURN(const int64_t axis,
                           node.Axis(axes[0], node.rank(0)));
  return node.Return(node.Add(kCumsum, {node.input(0)},
                              {{"axis", axis},
                               {"exclusive", node.Int("exclusive", 0) != 0},
                               {"reverse", node.Int("reverse", 0) != 0}}));
}

constexpr ConverterRow kRows[] = {
    {"Concat", Concat, 1},
    {"CumSum", CumSum, 2},
    {"DepthToSpace", DepthToSpace, 1},
    {"Pad", Pad, 1},
    {"Resize", Resize, 1},
    {"Slice", Slice, 1},
    {"SpaceToDepth", SpaceToDepth, 1},
    {"Split", Split, 1, kAnyNumber},
    {"Tile", Tile, 2},
    {"Transpose", Transpose, 1},
    {"Trilu", Trilu, 1},
    {"Upsample", Upsample, 1},
};

}  // namespace

absl::Span<const ConverterRow> MoveConverters() { return kRows; }

}  // namespace partita
