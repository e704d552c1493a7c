// ONNX's resizing: by scales, by sizes, of all dimensions or of some.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/resize_table.h"
#include "graph/ops/op_list.h"
#include "graph/ops/resample.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// The dimensions of scales and sizes: all, or those of `axes`.
absl::StatusOr<Ints> ResizedAxes(NodeImport& node) {
  if (node.has_attr("axes")) {
    return node.Axes(node.IntList("axes"), node.rank(0));
  }
  Ints axes(node.rank(0));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

absl::Status ExpectOnePerAxis(const NodeImport& node, size_t found,
                              absl::string_view what, const Ints& axes) {
  if (found == axes.size()) return absl::OkStatus();
  return node.Invalid(absl::StrCat(found, " ", what),
                      absl::StrCat(axes.size()));
}

// An extent times its scale.
absl::StatusOr<int64_t> SizeOf(const NodeImport& node, double scale,
                               double size) {
  if (size >= 0 && size < 1e12) return static_cast<int64_t>(size);
  return node.Invalid(absl::StrCat("scale ", scale),
                      "a positive scale of reasonable size");
}

double ScaleOf(int64_t size, int64_t extent) {
  return extent == 0 ? 1.0
                     : static_cast<double>(size) / static_cast<double>(extent);
}

// One scale for all axes, with which none becomes larger, or smaller, than
// requested.
absl::Status KeepAspectRatio(const NodeImport& node, const Ints& axes,
                             bool larger, ResizeSpec& spec) {
  double scale = spec.scales[axes[0]];
  for (int64_t axis : axes) {
    scale = larger ? std::max(scale, spec.scales[axis])
                   : std::min(scale, spec.scales[axis]);
  }
  for (int64_t axis : axes) {
    const double extent = static_cast<double>(node.type(0).dims[axis]);
    spec.scales[axis] = scale;
    PARTITA_ASSIGN_OR_RETURN(
        spec.sizes[axis],
        SizeOf(node, scale, std::floor(scale * extent + 0.5)));
  }
  return absl::OkStatus();
}

absl::Status SetBySizes(NodeImport& node, const Ints& axes, int sizes_at,
                        absl::string_view policy, ResizeSpec& spec) {
  PARTITA_ASSIGN_OR_RETURN(const Ints sizes, node.Ints(sizes_at, "sizes"));
  PARTITA_RETURN_IF_ERROR(ExpectOnePerAxis(node, sizes.size(), "sizes", axes));
  for (size_t i = 0; i < axes.size(); ++i) {
    spec.sizes[axes[i]] = sizes[i];
    spec.scales[axes[i]] = ScaleOf(sizes[i], node.type(0).dims[axes[i]]);
  }
  if (policy == "stretch" || axes.empty()) return absl::OkStatus();
  return KeepAspectRatio(node, axes, policy == "not_smaller", spec);
}

absl::StatusOr<std::vector<double>> ScalesOf(NodeImport& node, int scales_at) {
  if (node.has_attr("scales")) return node.FloatList("scales");
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* scales,
                           node.Constant(scales_at, "scales"));
  std::vector<double> values;
  for (int64_t i = 0; i < scales->type().num_elements(); ++i) {
    values.push_back(GetAsDouble(*scales, i));
  }
  return values;
}

absl::Status SetByScales(NodeImport& node, const Ints& axes, int scales_at,
                         ResizeSpec& spec) {
  PARTITA_ASSIGN_OR_RETURN(const std::vector<double> scales,
                           ScalesOf(node, scales_at));
  PARTITA_RETURN_IF_ERROR(
      ExpectOnePerAxis(node, scales.size(), "scales", axes));
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = node.type(0).dims[axes[i]];
    spec.scales[axes[i]] = scales[i];
    PARTITA_ASSIGN_OR_RETURN(
        spec.sizes[axes[i]],
        SizeOf(node, scales[i],
               static_cast<double>(ResizedExtent(extent, scales[i]))));
  }
  return absl::OkStatus();
}

absl::StatusOr<ResizeSpec> SpecOf(NodeImport& node, int scales_at,
                                  int sizes_at) {
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, ResizedAxes(node));
  const Shape& dims = node.type(0).dims;
  ResizeSpec spec = {Ints(dims.begin(), dims.end()),
                     std::vector<double>(dims.size(), 1)};
  // By sizes; the scales are used as they are.
  PARTITA_ASSIGN_OR_RETURN(
      const std::string policy,
      node.Choice("keep_aspect_ratio_policy", "stretch",
                  {"stretch", "not_larger", "not_smaller"}));
  PARTITA_RETURN_IF_ERROR(node.has_input(sizes_at)
                              ? SetBySizes(node, axes, sizes_at, policy, spec)
                              : SetByScales(node, axes, scales_at, spec));
  return spec;
}

struct Sampling {
  std::string mode, coordinates, nearest;
};

absl::StatusOr<ValueId> AddResize(NodeImport& node, ValueId x, ResizeSpec spec,
                                  const Sampling& sampling) {
  return node.Add(kResize, {x},
                  {{"mode", sampling.mode},
                   {"sizes", std::move(spec.sizes)},
                   {"scales", std::move(spec.scales)},
                   {"coordinates", sampling.coordinates},
                   {"nearest", sampling.nearest},
                   {"cubic_a", node.Float("cubic_coeff_a", -0.75)},
                   {"exclude_outside", node.Flag("exclude_outside", false)}});
}

// Keeps dimensions that shrink, or all others.
ResizeSpec PartOf(const ResizeSpec& spec, const Shape& dims, bool shrinks) {
  ResizeSpec part = spec;
  for (size_t d = 0; d < dims.size(); ++d) {
    if ((spec.scales[d] < 1) == shrinks) continue;
    part.sizes[d] = dims[d];
    part.scales[d] = 1;
  }
  return part;
}

bool Resizes(const ResizeSpec& spec) {
  return absl::c_any_of(spec.scales, [](double scale) { return scale != 1; });
}

// Before opset 11 the standard left open which element is nearest. As in ONNX
// Runtime it is the one at or after a position in a dimension that shrinks, and
// the one at or before it in others.
absl::Status ResizeBefore11(NodeImport& node, const std::string& mode) {
  PARTITA_ASSIGN_OR_RETURN(const ResizeSpec spec, SpecOf(node, 1, 99));
  ValueId y = node.input(0);
  const Shape dims = node.type(0).dims;
  if (mode != "nearest") {
    return node.Return(AddResize(node, y, spec, {mode, "asymmetric", "floor"}));
  }
  const ResizeSpec shrunk = PartOf(spec, dims, /*shrinks=*/true);
  if (Resizes(shrunk)) {
    PARTITA_ASSIGN_OR_RETURN(
        y, AddResize(node, y, shrunk, {mode, "asymmetric", "ceil"}));
  }
  ResizeSpec rest = PartOf(spec, dims, /*shrinks=*/false);
  if (Resizes(shrunk) && !Resizes(rest)) return node.Return(y);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (spec.scales[d] < 1) rest.sizes[d] = spec.sizes[d];
  }
  return node.Return(AddResize(node, y, rest, {mode, "asymmetric", "floor"}));
}

// Antialiasing applies only to smaller results.
bool Filters(const ResizeSpec& spec, const Sampling& sampling, bool asked) {
  return asked && sampling.mode != "nearest" &&
         absl::c_any_of(spec.scales, [](double scale) { return scale < 1; });
}

// The part of each dimension that tf_crop_and_resize resizes: all starts, then
// all ends.
absl::Status ReadPart(NodeImport& node, TableSampling& sampling) {
  PARTITA_ASSIGN_OR_RETURN(const Ints axes, ResizedAxes(node));
  PARTITA_ASSIGN_OR_RETURN(const HostTensor* roi, node.Constant(1, "the roi"));
  const int64_t count = roi->type().num_elements();
  PARTITA_RETURN_IF_ERROR(ExpectOnePerAxis(node,
                                           count % 2 == 0 ? count / 2 : -1,
                                           "starts and ends in the roi", axes));
  sampling.from.assign(node.rank(0), 0);
  sampling.to.assign(node.rank(0), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    sampling.from[axes[i]] = GetAsDouble(*roi, i);
    sampling.to[axes[i]] = GetAsDouble(*roi, i + axes.size());
  }
  return absl::OkStatus();
}

absl::Status ByTables(NodeImport& node, const ResizeSpec& spec,
                      const Sampling& sampling, bool antialias, double beyond) {
  TableSampling tables = {
      .mode = sampling.mode,
      .coordinates = sampling.coordinates,
      .nearest = sampling.nearest,
      .cubic_a = node.Float("cubic_coeff_a", -0.75),
      .exclude_outside = node.Flag("exclude_outside", false),
      .antialias = antialias,
      .of_f64 = node.type(0).dtype == DType::kF64,
      .beyond = beyond};
  if (sampling.coordinates == "tf_crop_and_resize") {
    PARTITA_RETURN_IF_ERROR(ReadPart(node, tables));
  }
  return ResizeByTables(node, spec, tables);
}

absl::StatusOr<Sampling> ReadSampling(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string mode,
      node.Choice("mode", "nearest", {"nearest", "linear", "cubic"}));
  PARTITA_ASSIGN_OR_RETURN(
      const std::string coordinates,
      node.Choice("coordinate_transformation_mode", "half_pixel",
                  {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                   "align_corners", "asymmetric", "tf_half_pixel_for_nn",
                   "tf_crop_and_resize"}));
  PARTITA_ASSIGN_OR_RETURN(const std::string nearest,
                           node.Choice("nearest_mode", "round_prefer_floor",
                                       {"round_prefer_floor",
                                        "round_prefer_ceil", "floor", "ceil"}));
  return Sampling{mode, coordinates, nearest};
}

absl::Status Resize(NodeImport& node) {
  if (node.opset() < 11) {
    return ResizeBefore11(node, node.String("mode", "nearest"));
  }
  PARTITA_ASSIGN_OR_RETURN(const Sampling sampling, ReadSampling(node));
  PARTITA_ASSIGN_OR_RETURN(ResizeSpec spec, SpecOf(node, 2, 3));
  const bool antialias = Filters(spec, sampling, node.Flag("antialias", false));
  const double beyond = node.Float("extrapolation_value", 0);
  if (antialias || sampling.coordinates == "tf_crop_and_resize") {
    return ByTables(node, spec, sampling, antialias, beyond);
  }
  return node.Return(AddResize(node, node.input(0), std::move(spec), sampling));
}

// The older op: scales only, no choice of coordinates.
absl::Status Upsample(NodeImport& node) {
  const std::string mode = node.String("mode", "nearest");
  PARTITA_ASSIGN_OR_RETURN(ResizeSpec spec, SpecOf(node, 1, 99));
  return node.Return(
      AddResize(node, node.input(0), std::move(spec),
                {mode == "bilinear" ? "linear" : mode, "asymmetric", "floor"}));
}

constexpr ConverterRow kRows[] = {
    {"Resize", Resize, 1, 1,
     "antialias axes coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value keep_aspect_ratio_policy mode "
     "nearest_mode"},
    {"Upsample", Upsample, 1, 1, "mode scales"},
};

}  // namespace

extern constinit const ConverterFamily kResizeConverters = {kRows};

}  // namespace partita
