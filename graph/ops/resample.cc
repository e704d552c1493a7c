// Coordinates, neighbours and weights.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"

namespace partita {
namespace {

absl::Status CheckNames(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "mode", {"nearest", "linear", "cubic"}));
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "coordinates",
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                  "align_corners", "asymmetric", "tf_half_pixel_for_nn"}));
  return ExpectWord(
      op, "nearest",
      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

absl::Status CheckScales(const OpView& op) {
  const std::vector<double>& scales = op.attr_floats("scales");
  const int rank = op.operand_type(0).rank();
  const bool positive = std::all_of(scales.begin(), scales.end(), [](double s) {
    return s > 0 && std::isfinite(s);
  });
  if (positive &&
      (scales.empty() || scales.size() == static_cast<size_t>(rank))) {
    return absl::OkStatus();
  }
  return BadOp(op, absl::StrCat(scales.size(), " scales"),
               absl::StrCat("none, or ", rank, " above 0"),
               "leave scales out, or give one per dimension");
}

// All in `Real`, with one rounding for each operation.
template <typename Real>
double CoordinateIn(const std::string& mode, const AxisMap& map, int64_t i) {
  constexpr Real kHalf = 0.5;
  const Real at = static_cast<Real>(i);
  const Real scale = static_cast<Real>(map.scale);
  if (mode == "asymmetric") return at / scale;
  if (mode == "tf_half_pixel_for_nn") return (at + kHalf) / scale;
  if (mode == "align_corners") {
    return map.to == 1 ? 0
                       : at * static_cast<Real>(map.from - 1) /
                             static_cast<Real>(map.to - 1);
  }
  if (mode == "pytorch_half_pixel" && map.to == 1) return 0;
  if (mode != "half_pixel_symmetric") return (at + kHalf) / scale - kHalf;
  // The middle is fixed, though the extent is rounded. ONNX Runtime
  // adds in f64.
  const Real from = static_cast<Real>(map.from);
  const Real rounded = static_cast<Real>(map.to) / (scale * from);
  const double offset = from * kHalf * (1 - rounded);
  const double edge =
      (static_cast<double>(i) + 0.5) / static_cast<double>(scale);
  return static_cast<Real>(offset + edge - 0.5);
}

// All positions more than three elements outside the tensor are equal. So
// extreme scales are clamped to the integer range.
double Coordinate(const std::string& mode, const AxisMap& map, int64_t i) {
  const double at = ResampledPosition(mode, map, i);
  if (std::isnan(at)) return 0;
  return std::clamp(at, -4.0, static_cast<double>(map.from) + 3);
}

// Positions this near to the middle of two elements count as the middle, as f32
// may miss it. The value is ONNX Runtime's.
constexpr double kMiddle = 1e-6;

double CoordinateOf(const OpView& op, const AxisMap& map, int64_t i) {
  if (IsIdentity(map)) return static_cast<double>(i);
  return Coordinate(op.attr_string("coordinates"), map, i);
}

// The weights at -1, 0, 1 and 2 from the floor of the coordinate.
Weights LinearWeights(double ratio) { return {0, 1 - ratio, ratio, 0}; }

Sample BlendAt(const OpView& op, const AxisMap& map, double at) {
  const double floor = std::floor(at);
  Sample sample;
  sample.weight = op.attr_string("mode") == "linear"
                      ? LinearWeights(at - floor)
                      : CubicWeights(at - floor, op.attr_float("cubic_a"));
  double total = 0;
  for (int64_t n = 0; n < 4; ++n) {
    const int64_t wanted = static_cast<int64_t>(floor) + n - 1;
    sample.index[n] = std::clamp<int64_t>(wanted, 0, map.from - 1);
    const bool outside = sample.index[n] != wanted;
    if (outside && op.attr_bool("exclude_outside")) sample.weight[n] = 0;
    total += sample.weight[n];
  }
  if (op.attr_bool("exclude_outside") && total != 0) {
    for (double& weight : sample.weight) weight /= total;
  }
  return sample;
}

}  // namespace

// ONNX Runtime computes positions in f32. Of f64 tensors PyTorch does not, and
// is nearer to what is meant.
double ResampledPosition(const std::string& mode, const AxisMap& map,
                         int64_t i) {
  return map.of_f64 ? CoordinateIn<double>(mode, map, i)
                    : CoordinateIn<float>(mode, map, i);
}

double NearestElement(const std::string& rounding, double position) {
  if (rounding == "floor") return std::floor(position);
  if (rounding == "ceil") return std::ceil(position);
  if (rounding == "round_prefer_floor") {
    return std::ceil(position - 0.5 - kMiddle);
  }
  return std::floor(position + 0.5 + kMiddle);
}

int64_t ResizedExtent(int64_t extent, double scale) {
  const float size = static_cast<float>(extent) * static_cast<float>(scale);
  return size >= 0 && size < 1e12f ? static_cast<int64_t>(size) : -1;
}

absl::Status CheckResample(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(CheckNames(op));
  if (op.attr_string("mode") != "nearest") {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  }
  PARTITA_RETURN_IF_ERROR(
      ExpectPerDimension(op, "sizes", op.operand_type(0).rank()));
  return CheckScales(op);
}

AxisMap MapOf(const OpView& op, int dim, int64_t from, int64_t to) {
  const std::vector<double>& scales = op.attr_floats("scales");
  const bool of_f64 = op.operand_type(0).dtype == DType::kF64;
  // A resize that keeps all extents is a copy, for any scales.
  const Shape& dims = op.operand_type(0).dims;
  const std::vector<int64_t>& sizes = op.attr_ints("sizes");
  if (std::equal(dims.begin(), dims.end(), sizes.begin(), sizes.end())) {
    return {from, to, 1, of_f64};
  }
  return {from, to,
          scales.empty() ? static_cast<double>(to) / static_cast<double>(from)
                         : scales[dim],
          of_f64};
}

bool IsIdentity(const AxisMap& map) {
  return map.from == map.to && map.scale == 1;
}

DimensionRule ResampleRule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& dims = op.operand_type(0).dims;
  const std::vector<int64_t>& sizes = op.attr_ints("sizes");
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    if (!IsIdentity(MapOf(op, d, dims[d], sizes[d]))) continue;
    rule.Keep(absl::StrCat("d", d), d, d);
  }
  return rule.Finish();
}

void ResampleShards(const OpView& op, int factor, int64_t begin, int64_t end,
                    Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  if (dim < 0) return;
  std::vector<int64_t> sizes = op.attr_ints("sizes");
  sizes[dim] = end - begin;
  attributes.Set("sizes", sizes);
}

Attributes BackToOperand(const OpView& op) {
  const Shape& dims = op.operand_type(0).dims;
  Attributes attributes = op.node().attributes;
  attributes.Set("sizes", std::vector<int64_t>(dims.begin(), dims.end()));
  return attributes;
}

int64_t NearestTo(const OpView& op, const AxisMap& map, int64_t i) {
  return std::clamp<int64_t>(
      static_cast<int64_t>(
          NearestElement(op.attr_string("nearest"), CoordinateOf(op, map, i))),
      0, map.from - 1);
}

Weights CubicWeights(double r, double a) {
  const auto near = [a](double d) {
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  };
  const auto far = [a](double d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  return {far(1 + r), near(r), near(1 - r), far(2 - r)};
}

Sample SampleAt(const OpView& op, const AxisMap& map, int64_t i) {
  if (op.attr_string("mode") == "nearest") {
    const int64_t at = NearestTo(op, map, i);
    return {{at, at, at, at}, {1, 0, 0, 0}};
  }
  return BlendAt(op, map, CoordinateOf(op, map, i));
}

}  // namespace partita
