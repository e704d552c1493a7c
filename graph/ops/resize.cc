// Resize: a tensor sampled at other positions, one axis after another.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ops/arithmetic.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status ExpectName(const OpView& op, absl::string_view attr,
                        absl::Span<const absl::string_view> known) {
  const std::string& name = op.attr_string(attr);
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return absl::OkStatus();
  }
  std::string names;
  for (absl::string_view one : known) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", one);
  }
  return BadOp(op, absl::StrCat(attr, " \"", name, "\""),
               absl::StrCat("one of: ", names), "name one of them");
}

absl::Status CheckNames(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(
      ExpectName(op, "mode", {"nearest", "linear", "cubic"}));
  PARTITA_RETURN_IF_ERROR(
      ExpectName(op, "coordinates",
                 {"half_pixel", "pytorch_half_pixel", "align_corners",
                  "asymmetric", "tf_half_pixel_for_nn"}));
  return ExpectName(
      op, "nearest",
      {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(CheckNames(op));
  if (op.attr_string("mode") != "nearest") {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  }
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "sizes", x.rank()));
  const std::vector<double>& scales = op.attr_floats("scales");
  const bool positive = std::all_of(scales.begin(), scales.end(), [](double s) {
    return s > 0 && std::isfinite(s);
  });
  if (!positive || (!scales.empty() && scales.size() != x.dims.size())) {
    return BadOp(op, absl::StrCat(scales.size(), " scales"),
                 absl::StrCat("none, or ", x.rank(), " above 0"),
                 "leave scales out, or give one per dimension");
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (x.dims[d] > 0 || op.attr_ints("sizes")[d] == 0) continue;
    return BadOp(op, Describe(op, 0), absl::StrCat("elements in dimension ", d),
                 "an empty dimension cannot be resized");
  }
  return results.Set(0, {x.dtype, ToShape(op.attr_ints("sizes")), {}});
}

// One axis: how positions of the result lie over the operand.
struct AxisMap {
  int64_t from;  // extents
  int64_t to;
  double scale;
};
AxisMap MapOf(const OpView& op, int dim) {
  AxisMap map{op.operand_type(0).dims[dim], op.attr_ints("sizes")[dim], 1};
  const std::vector<double>& scales = op.attr_floats("scales");
  map.scale = scales.empty()
                  ? static_cast<double>(map.to) / static_cast<double>(map.from)
                  : scales[dim];
  return map;
}
bool IsIdentity(const AxisMap& map) {
  return map.from == map.to && map.scale == 1;
}

double RawCoordinate(const std::string& mode, const AxisMap& map, int64_t i) {
  const double at = static_cast<double>(i);
  if (mode == "asymmetric") return at / map.scale;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / map.scale;
  if (mode == "align_corners") {
    // ONNX's reference takes the extent that the scale asks for, fraction and
    // all, not the one that it is rounded down to.
    const double extent = map.scale * static_cast<double>(map.from);
    return map.to == 1 ? 0
                       : at * static_cast<double>(map.from - 1) / (extent - 1);
  }
  if (mode == "pytorch_half_pixel" && map.to == 1) return 0;
  return (at + 0.5) / map.scale - 0.5;
}

// Beyond three elements outside the tensor every position is the same; so
// absurd scales stay within what an integer can hold.
double Coordinate(const std::string& mode, const AxisMap& map, int64_t i) {
  const double at = RawCoordinate(mode, map, i);
  if (std::isnan(at)) return 0;
  return std::clamp(at, -4.0, static_cast<double>(map.from) + 3);
}

int64_t Nearest(const std::string& rounding, double at) {
  if (rounding == "floor") return static_cast<int64_t>(std::floor(at));
  if (rounding == "ceil") return static_cast<int64_t>(std::ceil(at));
  if (rounding == "round_prefer_floor") {
    return static_cast<int64_t>(std::ceil(at - 0.5));
  }
  return static_cast<int64_t>(std::floor(at + 0.5));
}

absl::Status EvaluateNearest(const OpView& op, const HostTensor& x,
                             HostTensor& y) {
  std::vector<std::vector<int64_t>> sources;
  for (int d = 0; d < x.type().rank(); ++d) {
    const AxisMap map = MapOf(op, d);
    std::vector<int64_t>& source = sources.emplace_back();
    for (int64_t i = 0; i < map.to; ++i) {
      const double at = IsIdentity(map)
                            ? static_cast<double>(i)
                            : Coordinate(op.attr_string("coordinates"), map, i);
      source.push_back(std::clamp<int64_t>(
          Nearest(op.attr_string("nearest"), at), 0, map.from - 1));
    }
  }
  CopyByIndex(x, sources, y);
  return absl::OkStatus();
}

// Four neighbours at -1, 0, 1, 2 from the floor, and how much each counts.
using Weights = std::array<double, 4>;

Weights LinearWeights(double ratio) { return {0, 1 - ratio, ratio, 0}; }

// Keys' cubic convolution (1981) with parameter a.
Weights CubicWeights(double r, double a) {
  const auto near = [a](double d) {
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  };
  const auto far = [a](double d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  return {far(1 + r), near(r), near(1 - r), far(2 - r)};
}

// One position of the result: the neighbours that exist and their weights.
struct Sample {
  std::array<int64_t, 4> index;
  Weights weight;
};

Sample SampleAt(const OpView& op, const AxisMap& map, double at) {
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

// A neighbour without weight does not count, even if it is infinite.
double Weighted(const Sample& sample, const double* line, int64_t step) {
  double sum = 0;
  for (int n = 0; n < 4; ++n) {
    if (sample.weight[n] == 0) continue;
    sum += sample.weight[n] * line[sample.index[n] * step];
  }
  return sum;
}

std::vector<double> ResizeAxis(const OpView& op, const AxisMap& map,
                               const AxisLines& lines,
                               const std::vector<double>& x) {
  std::vector<double> y(lines.outer * map.to * lines.inner);
  for (int64_t i = 0; i < map.to; ++i) {
    const Sample sample =
        SampleAt(op, map, Coordinate(op.attr_string("coordinates"), map, i));
    for (int64_t o = 0; o < lines.outer; ++o) {
      const double* from = x.data() + o * map.from * lines.inner;
      double* to = y.data() + (o * map.to + i) * lines.inner;
      for (int64_t n = 0; n < lines.inner; ++n) {
        to[n] = Weighted(sample, from + n, lines.inner);
      }
    }
  }
  return y;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  if (op.attr_string("mode") == "nearest") {
    return EvaluateNearest(op, in[0], out[0]);
  }
  std::vector<double> values = ToDoubles(in[0]);
  Shape dims = in[0].type().dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const AxisMap map = MapOf(op, static_cast<int>(d));
    if (IsIdentity(map)) continue;
    values = ResizeAxis(op, map, AxisLines(dims, static_cast<int>(d)), values);
    dims[d] = map.to;
  }
  FromDoubles(values, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType y = op.result_type(0).RowMajor();
  const double taps = op.attr_string("mode") == "nearest"  ? 0
                      : op.attr_string("mode") == "linear" ? 8
                                                           : 32;
  return {
      .flops = taps * y.num_elements(),
      .bytes = 1.0 * op.operand_type(0).RowMajor().num_bytes() + y.num_bytes()};
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    if (IsIdentity(MapOf(op, d))) rule.Keep(absl::StrCat("d", d), d, d);
  }
  return rule.Finish();
}

void PieceAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  if (dim < 0) return;
  std::vector<int64_t> sizes = op.attr_ints("sizes");
  sizes[dim] = end - begin;
  attributes.Set("sizes", sizes);
}

}  // namespace

extern constinit const OpDef kResize = {
    .name = "resize",
    .doc =
        "The operand sampled at the positions of another shape: its nearest "
        "element, or a linear or cubic blend of neighbours.",
    .operands = {{{"x"}}},
    .attrs = {{StringAttr("mode", "nearest"),
               RequiredAttr("sizes", AttributeKind::kInts),
               FloatsAttr("scales"), StringAttr("coordinates", "half_pixel"),
               StringAttr("nearest", "round_prefer_floor"),
               FloatAttr("cubic_a", -0.75),
               BoolAttr("exclude_outside", false)}},
    .tolerance = Tolerance::kRounding,
    .infer = Infer,
    .eval = Evaluate,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .piece_attributes = PieceAttributes,
};

}  // namespace partita
