// RoI align: regions of images, sampled and pooled to one size.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

// The largest number of sampling points along a bin's side.
constexpr int64_t kMaxPoints = 1 << 12;

absl::Status CheckExtent(const OpView& op, absl::string_view name,
                         int64_t least, int64_t most) {
  const int64_t value = op.attr_int(name);
  if (value >= least && value <= most) return absl::OkStatus();
  return BadOp(op, absl::StrCat(name, " ", value),
               absl::StrCat(least, "..", most), absl::StrCat("correct ", name));
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 2, kIntegers));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 4, 4));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, 2, 2));
  const int64_t regions = op.operand_type(1).dims[0];
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 1, {regions, 4}));
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 2, {regions}));
  PARTITA_RETURN_IF_ERROR(ExpectWord(op, "mode", {"avg", "max"}));
  constexpr int64_t kMaxSize = int64_t{1} << 30;
  PARTITA_RETURN_IF_ERROR(CheckExtent(op, "height", 1, kMaxSize));
  PARTITA_RETURN_IF_ERROR(CheckExtent(op, "width", 1, kMaxSize));
  PARTITA_RETURN_IF_ERROR(CheckExtent(op, "sampling_ratio", 0, kMaxPoints));
  return results.Set(
      0, {x.dtype,
          {regions, x.dims[1], op.attr_int("height"), op.attr_int("width")},
          {}});
}

// One side of a region: the start of its bins, and the points of each.
struct Side {
  double start;
  double bin;
  int64_t points;
};

absl::StatusOr<Side> SideOf(const OpView& op, double from, double to,
                            int64_t bins) {
  const double scale = op.attr_float("spatial_scale");
  const double shift = op.attr_bool("half_pixel") ? 0.5 : 0;
  double length = (to - from) * scale;
  if (!op.attr_bool("half_pixel")) length = std::max(length, 1.0);
  const double bin = length / static_cast<double>(bins);
  const int64_t asked = op.attr_int("sampling_ratio");
  if (asked == 0 && !(std::ceil(bin) <= kMaxPoints)) {
    return absl::InvalidArgumentError(
        absl::StrCat(op.ToString(), ": found a region from ", from, " to ", to,
                     "; expected at most ", kMaxPoints, " points of a bin"));
  }
  return Side{from * scale - shift, bin,
              asked > 0 ? asked : static_cast<int64_t>(std::ceil(bin))};
}

// The two elements around a position and their weights; none outside.
struct Between {
  std::array<int64_t, 2> index = {};
  std::array<double, 2> weight = {};
};

Between Neighbours(double at, int64_t extent) {
  if (!(at >= -1 && at <= static_cast<double>(extent)) || extent == 0) {
    return {};
  }
  at = std::clamp(at, 0.0, static_cast<double>(extent - 1));
  const int64_t low = static_cast<int64_t>(at);
  const double ratio = at - static_cast<double>(low);
  return {{low, std::min(low + 1, extent - 1)}, {1 - ratio, ratio}};
}

// Reduces the points of the bin at (row, column) of a plane.
class Bin {
 public:
  Bin(const Side& rows, const Side& columns, int64_t height, int64_t width)
      : rows_(rows), columns_(columns), height_(height), width_(width) {}

  template <typename Join>
  double Fold(const double* plane, int64_t row, int64_t column, double start,
              Join&& join) const {
    for (int64_t i = 0; i < rows_.points; ++i) {
      const Between y = Neighbours(At(rows_, row, i), height_);
      for (int64_t j = 0; j < columns_.points; ++j) {
        const Between x = Neighbours(At(columns_, column, j), width_);
        for (int n = 0; n < 4; ++n) {
          const double weight = y.weight[n / 2] * x.weight[n % 2];
          const double value =
              weight == 0
                  ? 0
                  : weight * plane[y.index[n / 2] * width_ + x.index[n % 2]];
          start = join(start, value);
        }
      }
    }
    return start;
  }

  double Mean(const double* plane, int64_t row, int64_t column) const {
    const double sum =
        Fold(plane, row, column, 0, [](double a, double b) { return a + b; });
    return sum / static_cast<double>(
                     std::max<int64_t>(rows_.points * columns_.points, 1));
  }

  // As in the standard: the greatest of the weighted neighbours, not of the
  // blends.
  double Max(const double* plane, int64_t row, int64_t column) const {
    // A region may end before it begins.
    if (rows_.points <= 0 || columns_.points <= 0) return 0;
    return Fold(plane, row, column, -HUGE_VAL,
                [](double a, double b) { return std::max(a, b); });
  }

 private:
  static double At(const Side& side, int64_t bin, int64_t point) {
    return side.start + side.bin * (static_cast<double>(bin) +
                                    (static_cast<double>(point) + 0.5) /
                                        static_cast<double>(side.points));
  }

  const Side rows_;
  const Side columns_;
  const int64_t height_;
  const int64_t width_;
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Shape& x = in[0].type().dims;
  const Shape& dims = out[0].type().dims;
  PARTITA_ASSIGN_OR_RETURN(
      const std::vector<int64_t> images,
      ReadIndices(op, in[2], {x[0]}, NegativeIndex::kOutside));
  const std::vector<double> values = ToDoubles(in[0]);
  const std::vector<double> regions = ToDoubles(in[1]);
  const bool max = op.attr_string("mode") == "max";
  std::vector<double> y;
  y.reserve(out[0].type().num_elements());
  for (size_t r = 0; r < images.size(); ++r) {
    const double* box = regions.data() + 4 * r;
    PARTITA_ASSIGN_OR_RETURN(const Side rows,
                             SideOf(op, box[1], box[3], dims[2]));
    PARTITA_ASSIGN_OR_RETURN(const Side columns,
                             SideOf(op, box[0], box[2], dims[3]));
    const Bin bin(rows, columns, x[2], x[3]);
    for (int64_t c = 0; c < dims[1]; ++c) {
      const double* plane =
          values.data() + (images[r] * dims[1] + c) * x[2] * x[3];
      for (int64_t i = 0; i < dims[2]; ++i) {
        for (int64_t j = 0; j < dims[3]; ++j) {
          y.push_back(max ? bin.Max(plane, i, j) : bin.Mean(plane, i, j));
        }
      }
    }
  }
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

// Without a sampling ratio the regions decide; assumes two points for each
// side.
Cost EstimateCost(const OpView& op) {
  const TensorType y = op.result_type(0).RowMajor();
  const double points =
      static_cast<double>(std::max<int64_t>(op.attr_int("sampling_ratio"), 2));
  return {
      .flops = 8 * points * points * static_cast<double>(y.num_elements()),
      .bytes = 1.0 * op.operand_type(0).RowMajor().num_bytes() + y.num_bytes()};
}

// [n c h w], [r 4], [r] -> [r c i j]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const int r = rule.Kept("r", op.operand_type(2).dims[0]);
  rule.Operand(1, 0, r).Operand(2, 0, r).Result(0, 0, r);
  rule.Keep("c", 1, 1);
  return rule.Finish();
}

std::vector<OpSample> Samples() {
  const SampleOperand regions = {DType::kF32, {5, 4}, -1, 9};
  return {
      {{F32({2, 3, 8, 9}), regions, I64({5}, 0, 1)},
       {{"height", 3}, {"width", 2}, {"sampling_ratio", 2}}},
      {{F32({2, 3, 8, 9}), regions, I64({5}, 0, 1)},
       {{"height", 3}, {"width", 2}, {"mode", "max"}, {"half_pixel", false}}},
  };
}

}  // namespace

extern constinit const OpDef kRoiAlign = {
    .name = "roi_align",
    .doc =
        "Regions [r, 4] (left, top, right, bottom) of the images at the given "
        "indices, each split into height x width bins: the mean of the points "
        "in a bin, or the greatest weighted neighbour of a point.",
    .operands = {{{"x"}, {"regions"}, {"images"}}},
    .attrs = {{RequiredAttr("height", AttributeKind::kInt),
               RequiredAttr("width", AttributeKind::kInt),
               IntAttr("sampling_ratio", 0), FloatAttr("spatial_scale", 1),
               StringAttr("mode", "avg"), BoolAttr("half_pixel", true)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient =
        "not implemented: it takes an op that adds at the regions that were "
        "read",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
