// Exports ops that move elements: transposes, slices, joins, padding, resizing.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"
#include "graph/ops/resample.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

absl::Status Split(NodeExport& node) {
  node.Give(
      {node.operand(0), node.Ints("split", node.op().attr_ints("sizes"))});
  return absl::OkStatus();
}

// The end is after the last element; a negative end would count from the other
// side.
int64_t EndOf(int64_t start, int64_t size, int64_t step) {
  const int64_t end = start + size * step;
  return end < 0 ? std::numeric_limits<int64_t>::min() : end;
}

absl::Status Slice(NodeExport& node) {
  const Ints& starts = node.op().attr_ints("starts");
  const Ints& sizes = node.op().attr_ints("sizes");
  Ints steps = node.op().attr_ints("steps");
  steps.resize(starts.size(), 1);
  Ints ends(starts.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    ends[i] = EndOf(starts[i], sizes[i], steps[i]);
  }
  Ints axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  node.Give({node.operand(0), node.Ints("starts", starts),
             node.Ints("ends", ends), node.Ints("axes", axes),
             node.Ints("steps", steps)});
  return absl::OkStatus();
}

absl::Status Pad(NodeExport& node) {
  Ints pads = node.op().attr_ints("before");
  const Ints& after = node.op().attr_ints("after");
  pads.insert(pads.end(), after.begin(), after.end());
  NodeExport::Names inputs = {node.operand(0), node.Ints("pads", pads)};
  const Number value = node.op().attr_number("value");
  if (value != Number()) {
    inputs.push_back(node.Scalar("value", node.dtype(0), value));
  }
  node.Give(inputs);
  return absl::OkStatus();
}

absl::Status Tile(NodeExport& node) {
  node.Give(
      {node.operand(0), node.Ints("repeats", node.op().attr_ints("repeats"))});
  return absl::OkStatus();
}

absl::Status DepthToSpace(NodeExport& node) {
  node.Give(node.operands())
      .String("mode", absl::AsciiStrToUpper(node.op().attr_string("mode")));
  return absl::OkStatus();
}

// Sizes suffice if each scale is their ratio.
bool AreRatios(const std::vector<double>& scales, const Ints& sizes,
               const Shape& dims) {
  for (size_t i = 0; i < scales.size(); ++i) {
    const double ratio = dims[i] == 0 ? 1.0
                                      : static_cast<double>(sizes[i]) /
                                            static_cast<double>(dims[i]);
    if (scales[i] != ratio) return false;
  }
  return true;
}

// Scales, which ONNX keeps as f32, suffice if the sizes follow from them.
bool GiveSizes(const std::vector<double>& scales, const Ints& sizes,
               const Shape& dims) {
  for (size_t i = 0; i < scales.size(); ++i) {
    if (ResizedExtent(dims[i], scales[i]) != sizes[i] ||
        scales[i] != static_cast<double>(static_cast<float>(scales[i]))) {
      return false;
    }
  }
  return true;
}

// The inputs after the region of interest, which is unused.
absl::StatusOr<NodeExport::Names> ScalesOrSizes(NodeExport& node) {
  const std::vector<double>& scales = node.op().attr_floats("scales");
  const Ints& sizes = node.op().attr_ints("sizes");
  const Shape& dims = node.op().operand_type(0).dims;
  if (AreRatios(scales, sizes, dims)) {
    return NodeExport::Names{"", node.Ints("sizes", sizes)};
  }
  if (!GiveSizes(scales, sizes, dims)) {
    return node.Unsupported("sizes that do not follow from the scales",
                            "scales of f32 and the sizes that they give");
  }
  const std::vector<float> rounded(scales.begin(), scales.end());
  return NodeExport::Names{node.Constant(
      "scales",
      HostTensor::Of<float>({static_cast<int64_t>(rounded.size())}, rounded))};
}

absl::Status Resize(NodeExport& node) {
  const std::string coordinates = node.op().attr_string("coordinates");
  if (coordinates == "tf_half_pixel_for_nn" ||
      coordinates == "half_pixel_symmetric") {
    return node.Unsupported(absl::StrCat("coordinates \"", coordinates, "\""),
                            "coordinates that opset 17 has");
  }
  absl::StatusOr<NodeExport::Names> shape = ScalesOrSizes(node);
  if (!shape.ok()) return shape.status();
  NodeExport::Names inputs = {node.operand(0), ""};
  inputs.insert(inputs.end(), shape->begin(), shape->end());
  OnnxNode written = node.Give(inputs);
  written.String("mode", node.op().attr_string("mode"))
      .String("coordinate_transformation_mode", coordinates)
      .String("nearest_mode", node.op().attr_string("nearest"))
      .Int("exclude_outside", node.op().attr_bool("exclude_outside"));
  node.CopyFloat(written, "cubic_coeff_a", "cubic_a");
  return absl::OkStatus();
}

absl::Status Trilu(NodeExport& node) {
  node.Give({node.operand(0), node.Int("k", node.op().attr_int("k"))});
  return absl::OkStatus();
}

absl::Status CumSum(NodeExport& node) {
  node.Give({node.operand(0), node.Int("axis", node.op().attr_int("axis"))});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kConcat, "Concat", ExportAlike, {{"axis"}}},
    {&kCumsum, "CumSum", CumSum, {{"exclusive"}, {"reverse"}}},
    {&kDepthToSpace, "DepthToSpace", DepthToSpace, {{"blocksize", "block"}}},
    {&kPad, "Pad", Pad, {{"mode"}}},
    {&kResize, "Resize", Resize},
    {&kSlice, "Slice", Slice},
    {&kSpaceToDepth, "SpaceToDepth", ExportAlike, {{"blocksize", "block"}}},
    {&kSplit, "Split", Split, {{"axis"}}},
    {&kTile, "Tile", Tile},
    {&kTranspose, "Transpose", ExportAlike, {{"perm"}}},
    {&kTrilu, "Trilu", Trilu, {{"upper"}}},
};

}  // namespace

extern constinit const ExportFamily kMoveExports = {kRows};

}  // namespace partita
