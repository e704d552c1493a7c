// ONNX ops that read images at positions that are data.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/onnx/node_import.h"
#include "graph/onnx/window_attributes.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// Opset 20 renamed the modes.
absl::StatusOr<std::string> SampleMode(NodeImport& node) {
  if (node.opset() >= 20) {
    return node.Choice("mode", "linear", {"linear", "nearest", "cubic"});
  }
  PARTITA_ASSIGN_OR_RETURN(
      const std::string mode,
      node.Choice("mode", "bilinear", {"bilinear", "nearest", "bicubic"}));
  return mode == "nearest" ? mode : mode.substr(2);
}

absl::Status GridSample(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(std::string mode, SampleMode(node));
  PARTITA_ASSIGN_OR_RETURN(
      std::string padding,
      node.Choice("padding_mode", "zeros", {"zeros", "border", "reflection"}));
  return node.Return(
      node.Add(kGridSample, {node.input(0), node.input(1)},
               {{"mode", std::move(mode)},
                {"padding", std::move(padding)},
                {"align_corners", node.Flag("align_corners", false)}}));
}

// From -1 to 1: the centres of `extent` elements, or, with aligned corners,
// from the first to the last.
std::vector<double> Evenly(int64_t extent, bool align_corners) {
  const double steps = static_cast<double>(extent - (align_corners ? 1 : 0));
  std::vector<double> positions;
  for (int64_t i = 0; i < extent; ++i) {
    const double at = static_cast<double>(i) + (align_corners ? 0 : 0.5);
    positions.push_back(steps == 0 ? 0 : 2 * at / steps - 1);
  }
  return positions;
}

absl::StatusOr<Ints> GridExtents(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints size, node.Ints(1, "size"));
  const int64_t spatial = static_cast<int64_t>(size.size()) - 2;
  const TensorType& theta = node.type(0);
  if (spatial < 1 || theta.dims != Shape{size[0], spatial, spatial + 1}) {
    return node.Invalid(
        absl::StrCat("matrices ", theta.ToString(), " for a size of ",
                     size.size(), " extents"),
        "matrices [n, spatial, spatial + 1] and a size [n, c, spatial...]");
  }
  for (int64_t extent : size) {
    if (extent >= 0 && extent <= kMaxTable) continue;
    return node.Invalid(absl::StrCat("size ", extent),
                        absl::StrCat("extents of 0 to ", kMaxTable));
  }
  return Ints(size.begin() + 2, size.end());
}

// Positions (the last dimension first, and a 1), times each matrix.
absl::Status AffineGrid(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(const Ints extents, GridExtents(node));
  Composition c(node);
  const DType dtype = node.type(0).dtype;
  const int64_t images = node.type(0).dims[0];
  PARTITA_RETURN_IF_ERROR(
      CheckType({dtype, Shape(extents.begin(), extents.end()), {}}));
  Ints column = extents;
  column.push_back(1);
  std::vector<Expr> parts;
  for (size_t d = extents.size(); d-- > 0;) {
    Shape line(column.size(), 1);
    line[d] = extents[d];
    parts.push_back(
        c.Numbers(dtype, line,
                  Evenly(extents[d], node.Flag("align_corners", false)))
            .Expanded(column));
  }
  parts.push_back(c.Filled(dtype, column, 1));
  const int64_t positions = Product(extents);
  const int64_t rank = static_cast<int64_t>(extents.size());
  const Expr base = Concatenated(parts, -1).Reshaped({positions, rank + 1});
  Ints dims = {images};
  dims.insert(dims.end(), extents.begin(), extents.end());
  dims.push_back(rank);
  return c.Return(
      Product(base, c.Input(0), false, /*transpose_b=*/true).Reshaped(dims));
}

absl::Status RoiAlign(NodeImport& node) {
  PARTITA_ASSIGN_OR_RETURN(
      const std::string coordinates,
      node.Choice("coordinate_transformation_mode",
                  node.opset() < 16 ? "output_half_pixel" : "half_pixel",
                  {"half_pixel", "output_half_pixel"}));
  PARTITA_ASSIGN_OR_RETURN(std::string mode,
                           node.Choice("mode", "avg", {"avg", "max"}));
  return node.Return(
      node.Add(kRoiAlign, {node.input(0), node.input(1), node.input(2)},
               {{"height", node.Int("output_height", 1)},
                {"width", node.Int("output_width", 1)},
                {"sampling_ratio", node.Int("sampling_ratio", 0)},
                {"spatial_scale", node.Float("spatial_scale", 1)},
                {"mode", std::move(mode)},
                {"half_pixel", coordinates == "half_pixel"}}));
}

// A convolution that reads each tap at its own position: positions are [n *
// offset groups, taps * rows, columns], and their values are multiplied by the
// filters.
class DeformedConv {
 public:
  static absl::Status Convert(NodeImport& node) {
    DeformedConv conv(node);
    PARTITA_RETURN_IF_ERROR(conv.Read());
    return conv.Compute();
  }

 private:
  explicit DeformedConv(NodeImport& node) : node_(node), c_(node) {}

  absl::Status Read() {
    const TensorType& x = node_.type(0);
    const TensorType& w = node_.type(1);
    if (x.rank() != 4 || w.rank() != 4) {
      return node_.Unsupported(
          absl::StrCat("operands of ranks ", x.rank(), " and ", w.rank()),
          "images and filters of two spatial dimensions");
    }
    PARTITA_ASSIGN_OR_RETURN(window_,
                             ReadWindow(node_, x.dims, {w.dims[2], w.dims[3]}));
    x_ = x.dims;
    w_ = w.dims;
    groups_ = node_.Int("group", 1);
    offset_groups_ = node_.Int("offset_group", 1);
    taps_ = w_[2] * w_[3];
    return Check();
  }

  absl::Status Check() {
    for (int d = 0; d < 2; ++d) {
      const int64_t reach = (window_.kernel[d] - 1) * window_.dilations[d] + 1;
      const int64_t padded =
          x_[d + 2] + window_.before[d] + window_.after[d] - reach;
      size_[d] = padded < 0 ? 0 : padded / window_.strides[d] + 1;
    }
    const bool divide = groups_ > 0 && offset_groups_ > 0 &&
                        x_[1] % groups_ == 0 && w_[0] % groups_ == 0 &&
                        x_[1] % offset_groups_ == 0 && w_[1] * groups_ == x_[1];
    if (!divide || x_[2] == 0 || x_[3] == 0) {
      return node_.Invalid(
          absl::StrCat(node_.type(0).ToString(), " and filters ",
                       node_.type(1).ToString(), " in ", groups_,
                       " groups and ", offset_groups_, " offset groups"),
          "elements, and groups that divide the channels and filters");
    }
    PARTITA_RETURN_IF_ERROR(ExpectPerTap(2, "offsets", 2));
    return node_.has_input(4) ? ExpectPerTap(4, "mask", 1) : absl::OkStatus();
  }

  absl::Status ExpectPerTap(int input, absl::string_view what, int64_t each) {
    const Shape dims = {x_[0], offset_groups_ * taps_ * each, size_[0],
                        size_[1]};
    const TensorType expected = {node_.type(input).dtype, dims, {}};
    if (node_.type(input).dims == dims) return absl::OkStatus();
    return node_.Invalid(absl::StrCat(what, " ", node_.type(input).ToString()),
                         expected.ToString());
  }

  // The positions of taps in dimension d, [1, taps, rows, columns], without
  // offsets.
  Expr Undeformed(int d) {
    std::vector<double> starts;
    for (int64_t o = 0; o < size_[d]; ++o) {
      starts.push_back(
          static_cast<double>(o * window_.strides[d] - window_.before[d]));
    }
    std::vector<double> steps;
    for (int64_t k = 0; k < taps_; ++k) {
      const int64_t tap = d == 0 ? k / w_[3] : k % w_[3];
      steps.push_back(static_cast<double>(tap * window_.dilations[d]));
    }
    Shape line = {1, 1, 1, 1};
    line[d + 2] = size_[d];
    return c_.Numbers(node_.type(2).dtype, line, starts) +
           c_.Numbers(node_.type(2).dtype, {1, taps_, 1, 1}, steps);
  }

  // For dimension d, from -1 to 1 over the image's outer edges: [n * offset
  // groups, taps * rows, columns, 1].
  Expr Coordinates(const Expr& offsets, int d) {
    const int64_t planes = x_[0] * offset_groups_;
    const Expr at = offsets.Sliced(2, d, 1).Squeezed(2) + Undeformed(d);
    const double extent = static_cast<double>(x_[d + 2]);
    return ((at * 2 + 1) / extent - 1)
        .Reshaped({planes, taps_ * size_[0], size_[1], 1});
  }

  Expr Read(const Expr& offsets) {
    const int64_t planes = x_[0] * offset_groups_;
    const Expr grid = Concatenated(
        {Coordinates(offsets, 1), Coordinates(offsets, 0)}, /*axis=*/-1);
    const Expr images =
        c_.Input(0).Reshaped({planes, x_[1] / offset_groups_, x_[2], x_[3]});
    const Expr read = c_.Add(kGridSample, {images, grid});
    if (!node_.has_input(4)) return read;
    return read * c_.Input(4).Reshaped({planes, 1, taps_ * size_[0], size_[1]});
  }

  absl::Status Compute() {
    const int64_t positions = size_[0] * size_[1];
    const Expr offsets = c_.Input(2).Reshaped(
        {x_[0] * offset_groups_, taps_, 2, size_[0], size_[1]});
    const Expr columns =
        Read(offsets).Reshaped({x_[0], groups_, w_[1] * taps_, positions});
    const Expr filters =
        c_.Input(1).Reshaped({groups_, w_[0] / groups_, w_[1] * taps_});
    Expr y =
        Product(filters, columns).Reshaped({x_[0], w_[0], size_[0], size_[1]});
    if (node_.has_input(3)) {
      y = y + c_.Input(3).Reshaped({w_[0], 1, 1});
    }
    return c_.Return(y);
  }

  NodeImport& node_;
  Composition c_;
  OnnxWindow window_;
  Shape x_;
  Shape w_;
  int64_t groups_ = 1;
  int64_t offset_groups_ = 1;
  int64_t taps_ = 1;
  int64_t size_[2] = {};
};

constexpr ConverterRow kRows[] = {
    {"AffineGrid", AffineGrid, 2, 1, "align_corners"},
    {"DeformConv", DeformedConv::Convert, 3, 1,
     "dilations group kernel_shape offset_group pads strides"},
    {"GridSample", GridSample, 2, 1, "align_corners mode padding_mode"},
    {"RoiAlign", RoiAlign, 3, 1,
     "coordinate_transformation_mode mode output_height output_width "
     "sampling_ratio spatial_scale"},
};

}  // namespace

extern constinit const ConverterFamily kSampleConverters = {kRows};

}  // namespace partita
