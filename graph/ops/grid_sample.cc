// Grid sample: a tensor read at positions that are data, of which each stands
// between its elements.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "graph/ops/arithmetic.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/resample.h"
#include "graph/ops/rule_builder.h"

namespace partita {
namespace {

absl::Status CheckGrid(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  const TensorType& grid = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, x.rank(), x.rank()));
  const int64_t spatial = x.rank() - 2;
  if (grid.dims.back() != spatial || grid.dims[0] != x.dims[0]) {
    return BadOp(op, Describe(op, 1),
                 absl::StrCat(x.dims[0], " in dimension 0 and ", spatial,
                              " in the last one"),
                 "give each position of the result a coordinate per spatial "
                 "dimension");
  }
  for (int d = 2; d < x.rank(); ++d) {
    if (x.dims[d] > 0) continue;
    return BadOp(op, Describe(op, 0), absl::StrCat("elements in dimension ", d),
                 "an empty dimension cannot be sampled");
  }
  return absl::OkStatus();
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(CheckGrid(op));
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "mode", {"linear", "nearest", "cubic"}));
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "padding", {"zeros", "border", "reflection"}));
  const Shape& grid = op.operand_type(1).dims;
  Shape dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  return results.Set(0, {x.dtype, dims, {}});
}

// What a coordinate reads along one axis. An index of -1 is outside, where all
// is 0.
struct Taps {
  std::array<int64_t, 4> index;
  Weights weight;
  int count;
};

class Sampler {
 public:
  explicit Sampler(const OpView& op)
      : mode_(op.attr_string("mode")),
        padding_(op.attr_string("padding")),
        align_corners_(op.attr_bool("align_corners")) {}

  Taps Along(double coordinate, int64_t extent) const {
    double at = Unnormalized(coordinate, extent);
    if (mode_ == "nearest") at = std::nearbyint(at);
    at = Padded(at, extent);
    if (mode_ == "nearest") {
      return {{Index(static_cast<int64_t>(at), extent)}, {1}, 1};
    }
    const double floor = std::floor(at);
    const bool linear = mode_ == "linear";
    Taps taps = {{}, CubicWeights(at - floor, -0.75), 4};
    if (linear) taps = {{}, {1 - (at - floor), at - floor}, 2};
    const int64_t first = static_cast<int64_t>(floor) - (linear ? 0 : 1);
    for (int n = 0; n < taps.count; ++n) {
      taps.index[n] = Index(first + n, extent);
    }
    return taps;
  }

 private:
  // From -1..1 to elements. What is absurdly far stays in what an integer can
  // hold; NaN is outside.
  double Unnormalized(double at, int64_t extent) const {
    const double size = static_cast<double>(extent);
    at = align_corners_ ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
    constexpr double kFar = 1e12;
    return std::isnan(at) ? -kFar : std::clamp(at, -kFar, kFar);
  }

  // Back and forth between the first and the last, or their outer edges.
  double Reflected(double at, int64_t extent) const {
    const double low = align_corners_ ? 0 : -0.5;
    const double span = static_cast<double>(extent) - (align_corners_ ? 1 : 0);
    if (span == 0) return low;
    const double way = std::fmod(std::abs(at - low), 2 * span);
    return low + (way > span ? 2 * span - way : way);
  }

  double Padded(double at, int64_t extent) const {
    const double edge = align_corners_ ? 0 : -0.5;
    const double last = static_cast<double>(extent - 1);
    if (at >= edge && at <= last - edge) return at;
    if (padding_ == "border") return std::clamp(at, 0.0, last);
    return padding_ == "reflection" ? Reflected(at, extent) : at;
  }

  int64_t Index(int64_t i, int64_t extent) const {
    if (i >= 0 && i < extent) return i;
    if (padding_ == "zeros") return -1;
    if (padding_ == "reflection") {
      i = static_cast<int64_t>(Reflected(static_cast<double>(i), extent));
    }
    return std::clamp<int64_t>(i, 0, extent - 1);
  }

  const std::string mode_;
  const std::string padding_;
  const bool align_corners_;
};

// An element of a plane, and how much it counts.
struct Share {
  int64_t offset;
  double weight;
};

// The elements that one position blends; `grid` has its coordinates, the last
// dimension's first.
std::vector<Share> SharesOf(const Sampler& sampler, const double* grid,
                            absl::Span<const int64_t> extents) {
  std::vector<Share> shares = {{0, 1}};
  for (size_t d = 0; d < extents.size(); ++d) {
    const Taps taps = sampler.Along(grid[extents.size() - 1 - d], extents[d]);
    std::vector<Share> finer;
    for (const Share& share : shares) {
      for (int n = 0; n < taps.count; ++n) {
        if (taps.index[n] < 0 || taps.weight[n] == 0) continue;
        finer.push_back({share.offset * extents[d] + taps.index[n],
                         share.weight * taps.weight[n]});
      }
    }
    shares = std::move(finer);
  }
  return shares;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Sampler sampler(op);
  const Shape& dims = in[0].type().dims;
  const auto extents = absl::MakeConstSpan(dims).subspan(2);
  const int64_t plane = Product(extents);
  const int64_t positions =
      Product(absl::MakeConstSpan(out[0].type().dims).subspan(2));
  const std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> grid = ToDoubles(in[1]);
  std::vector<double> y(out[0].type().num_elements());
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t p = 0; p < positions; ++p) {
      const std::vector<Share> shares = SharesOf(
          sampler, grid.data() + (n * positions + p) * extents.size(), extents);
      for (int64_t c = n * dims[1]; c < (n + 1) * dims[1]; ++c) {
        double sum = 0;
        for (const Share& share : shares) {
          sum += share.weight * x[c * plane + share.offset];
        }
        y[c * positions + p] = sum;
      }
    }
  }
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType y = op.result_type(0).RowMajor();
  const std::string mode = op.attr_string("mode");
  const double taps = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  return {.flops = 2 * std::pow(taps, op.operand_type(0).rank() - 2) *
                   y.num_elements(),
          .bytes = 1.0 * op.operand_type(0).RowMajor().num_bytes() +
                   op.operand_type(1).RowMajor().num_bytes() + y.num_bytes()};
}

// [n c s...], [n o... r] -> [n c o...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& grid = op.operand_type(1).dims;
  const int n = rule.Kept("n", grid[0]);
  rule.Operand(0, 0, n).Operand(1, 0, n).Result(0, 0, n);
  rule.Keep("c", 1, 1);
  for (int d = 1; d + 1 < op.operand_type(1).rank(); ++d) {
    const int o = rule.Kept(absl::StrCat("o", d - 1), grid[d]);
    rule.Operand(1, d, o).Result(0, d + 1, o);
  }
  return rule.Finish();
}

}  // namespace

extern constinit const OpDef kGridSample = {
    .name = "grid_sample",
    .doc =
        "x [n, c, spatial...] at the positions of a grid [n, result..., "
        "coordinates], the last dimension's first, from -1 to 1: the nearest "
        "element, or a linear or cubic blend of neighbours.",
    .operands = {{{"x"}, {"grid"}}},
    .attrs = {{StringAttr("mode", "linear"), StringAttr("padding", "zeros"),
               BoolAttr("align_corners", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .cost = EstimateCost,
    .dimension_rule = Rule,
};

}  // namespace partita
