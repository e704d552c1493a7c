// Tables of weights, and products with them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/resize_table.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/composition.h"
#include "graph/ops/op_list.h"
#include "graph/ops/resample.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

struct Axis {
  int64_t extent;
  int64_t size;
  double scale;
  double from;  // the part of tf_crop_and_resize
  double to;
};

// The position in the operand of element i of the result.
double Position(const TableSampling& sampling, const Axis& axis, int64_t i) {
  if (sampling.coordinates != "tf_crop_and_resize") {
    const AxisMap map = {axis.extent, axis.size, axis.scale, sampling.of_f64};
    return ResampledPosition(sampling.coordinates, map, i);
  }
  const double last = static_cast<double>(axis.extent - 1);
  if (axis.size == 1) return (axis.from + axis.to) / 2 * last;
  const double steps = static_cast<double>(axis.size - 1);
  return axis.from * last +
         static_cast<double>(i) * (axis.to - axis.from) * last / steps;
}

bool IsBeyond(const TableSampling& sampling, const Axis& axis, double at) {
  return sampling.coordinates == "tf_crop_and_resize" &&
         !(at >= 0 && at <= static_cast<double>(axis.extent - 1));
}

double LinearWeight(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}
// Keys' cubic convolution, at any distance.
double CubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d >= 2) return 0;
  return d < 1 ? CubicWeights(d, a)[1] : CubicWeights(d - 1, a)[0];
}

// Adds the weights of position `at`.
void AddWeights(const TableSampling& sampling, const Axis& axis, double at,
                double* row) {
  const bool linear = sampling.mode == "linear";
  const double shrink = sampling.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const int64_t first =
      static_cast<int64_t>(std::floor((linear ? -1 : -2) / shrink)) + 1;
  // The previous neighbour, even for a whole position.
  const double base = std::ceil(at) - 1;
  double total = 0;
  std::vector<double> weights;
  for (int64_t n = first; n < 2 - first; ++n) {
    const double distance = (base + static_cast<double>(n) - at) * shrink;
    double weight = linear ? LinearWeight(distance)
                           : CubicWeight(distance, sampling.cubic_a);
    const double index = base + static_cast<double>(n);
    const bool outside =
        index < 0 || index > static_cast<double>(axis.extent - 1);
    if (outside && sampling.exclude_outside) weight = 0;
    total += weight;
    weights.push_back(weight);
  }
  for (size_t n = 0; n < weights.size(); ++n) {
    const double index =
        base + static_cast<double>(first) + static_cast<double>(n);
    row[static_cast<int64_t>(
        std::clamp(index, 0.0, static_cast<double>(axis.extent - 1)))] +=
        total == 0 ? 0 : weights[n] / total;
  }
}

int64_t NearestIndex(const std::string& rounding, const Axis& axis, double at) {
  return static_cast<int64_t>(std::clamp(NearestElement(rounding, at), 0.0,
                                         static_cast<double>(axis.extent - 1)));
}

class Tables {
 public:
  Tables(Composition& c, const TableSampling& sampling)
      : c_(c), sampling_(sampling) {}

  Expr Resized(const Expr& x, int d, const Axis& axis) const {
    if (sampling_.mode == "nearest") {
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < axis.size; ++i) {
        indices.push_back(NearestIndex(sampling_.nearest, axis,
                                       Position(sampling_, axis, i)));
      }
      return x.Gathered(c_.Ints({axis.size}, indices), d);
    }
    return Times(x, d, axis, Weights(axis));
  }

  // Which positions along the axis are inside the operand.
  Expr Inside(const Axis& axis, int d, int rank) const {
    std::vector<double> inside;
    for (int64_t i = 0; i < axis.size; ++i) {
      inside.push_back(
          !IsBeyond(sampling_, axis, Position(sampling_, axis, i)));
    }
    Shape line(rank, 1);
    line[d] = axis.size;
    return c_.Numbers(DType::kBool, line, inside);
  }

 private:
  // [size, extent]
  std::vector<double> Weights(const Axis& axis) const {
    std::vector<double> table(axis.size * axis.extent, 0);
    for (int64_t i = 0; i < axis.size; ++i) {
      const double at = std::clamp(Position(sampling_, axis, i), -4.0 - 1e6,
                                   static_cast<double>(axis.extent) + 1e6);
      AddWeights(sampling_, axis, at, table.data() + i * axis.extent);
    }
    return table;
  }

  // x as [outer, extent, inner], multiplied by the table.
  Expr Times(const Expr& x, int d, const Axis& axis,
             const std::vector<double>& weights) const {
    const Expr table = c_.Numbers(x.dtype(), {axis.size, axis.extent}, weights);
    const Shape dims = x.dims();
    if (d >= static_cast<int>(dims.size())) return x;  // after an error
    std::vector<int64_t> shape(dims.begin(), dims.end());
    shape[d] = axis.size;
    const auto all = absl::MakeConstSpan(dims);
    const int64_t outer = Product(all.subspan(0, d));
    const int64_t inner = Product(all.subspan(d + 1));
    if (inner == 1) {
      return Product(x.Reshaped({outer, axis.extent}), table, false,
                     /*transpose_b=*/true)
          .Reshaped(shape);
    }
    return Product(table, x.Reshaped({outer, axis.extent, inner}))
        .Reshaped(shape);
  }

  Composition& c_;
  const TableSampling& sampling_;
};

absl::Status CheckAxis(const NodeImport& node, const Axis& axis) {
  if (axis.extent < 1 || axis.size < 0 || !(axis.scale > 0) ||
      !std::isfinite(axis.from) || !std::isfinite(axis.to)) {
    return node.Invalid(
        absl::StrCat("an extent of ", axis.extent, " with scale ", axis.scale),
        "an extent of 1 or more, a scale above 0, and a finite part");
  }
  if (axis.size <= kMaxTable / axis.extent) return absl::OkStatus();
  return node.Unsupported(
      absl::StrCat("extents of ", axis.extent, " and ", axis.size),
      absl::StrCat("extents whose product is at most ", kMaxTable));
}

}  // namespace

absl::Status ResizeByTables(NodeImport& node, const ResizeSpec& spec,
                            const TableSampling& sampling) {
  Composition c(node);
  const Tables tables(c, sampling);
  const Shape dims = node.type(0).dims;
  const DType dtype = node.type(0).dtype;
  const int rank = static_cast<int>(dims.size());
  // All types but f64 are interpolated in f32.
  const bool as_is = sampling.mode == "nearest" || dtype == DType::kF64;
  Expr y = as_is ? c.Input(0) : c.Input(0).Cast(DType::kF32);
  std::vector<Expr> inside;
  for (int d = 0; d < rank; ++d) {
    const bool part = !sampling.from.empty();
    const Axis axis = {dims[d], spec.sizes[d], spec.scales[d],
                       part ? sampling.from[d] : 0, part ? sampling.to[d] : 1};
    if (axis.size == axis.extent && axis.scale == 1 && axis.from == 0 &&
        axis.to == 1) {
      continue;
    }
    PARTITA_RETURN_IF_ERROR(CheckAxis(node, axis));
    y = tables.Resized(y, d, axis);
    if (part) inside.push_back(tables.Inside(axis, d, rank));
  }
  for (const Expr& mask : inside) {
    y = Choose(mask, y, c.Scalar(y.dtype(), sampling.beyond));
  }
  return c.Return(y.Cast(dtype));
}

}  // namespace partita
