// Elements at positions that another operand gives (graph/ops/grid_sampler.h).
// Positions and weights are computed in f64, as there.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/grid_sampler.h"
#include "graph/ops/op_checks.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/cubic_weights.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

constexpr double kCubic = -0.75;
// Elements that one position blends, each read by every thread.
constexpr double kMostTaps = 64;

Register Floor(Register x) { return Unary(Opcode::kFloor, x); }

Register Between(Register x, double low, double high) {
  const Register above = Select(x < low, Like(x, low), x);
  return Select(Like(x, high) < above, Like(x, high), above);
}

// An element along one axis. Where `exists` is false it is 0.
struct Tap {
  Register index;
  Register weight;
  std::optional<Register> exists;
};

// The taps of a coordinate along an axis, as GridSampler::Along.
class GridAxis {
 public:
  GridAxis(const OpView& op, int64_t extent, ScalarType index)
      : mode_(op.attr_string("mode")),
        padding_(op.attr_string("padding")),
        align_corners_(op.attr_bool("align_corners")),
        extent_(static_cast<double>(extent)),
        index_(index) {}

  std::vector<Tap> Taps(Register coordinate) const {
    Register at = Unnormalized(coordinate);
    if (mode_ == "nearest") at = Unary(Opcode::kRint, at);
    at = Padded(at);
    const Register floor = Floor(at);
    const Register ratio = at - floor;
    if (mode_ == "nearest") return {TapAt(floor, Like(at, 1))};
    if (mode_ == "linear") {
      return {TapAt(floor, 1 - ratio), TapAt(floor + 1, ratio)};
    }
    std::vector<Tap> taps;
    double step = -1;
    for (const Register& weight : CubicWeightsOf(ratio, kCubic)) {
      taps.push_back(TapAt(floor + step, weight));
      step += 1;
    }
    return taps;
  }

 private:
  Register Unnormalized(Register at) const {
    const Register position = align_corners_ ? (at + 1) * 0.5 * (extent_ - 1)
                                             : ((at + 1) * extent_ - 1) * 0.5;
    constexpr double kFar = 1e12;
    return Select(IsNan(at), Like(at, -kFar), Between(position, -kFar, kFar));
  }

  Register Reflected(Register at) const {
    const double low = align_corners_ ? 0 : -0.5;
    const double span = extent_ - (align_corners_ ? 1 : 0);
    if (span == 0) return Like(at, low);
    const double period = 2 * span;
    const Register way = Unary(Opcode::kAbs, at - low);
    const Register rest = Fma(Floor(way / Like(way, period)), -period, way);
    // The quotient may have been rounded to the next integer.
    const Register above = Select(rest < 0.0, rest + period, rest);
    const Register inside = Select(above < period, above, above - period);
    return Select(Like(at, span) < inside, period - inside, inside) + low;
  }

  Register Padded(Register at) const {
    const double edge = align_corners_ ? 0 : -0.5;
    const double last = extent_ - 1;
    if (padding_ == "border" && mode_ != "cubic") {
      return Select(IsInside(at, edge, last - edge), at, Between(at, 0, last));
    }
    if (padding_ != "reflection") return at;
    return Select(IsInside(at, edge, last - edge), at, Reflected(at));
  }

  static Register IsInside(Register at, double low, double high) {
    return (Like(at, low) <= at) & (at <= Like(at, high));
  }

  Tap TapAt(Register whole, Register weight) const {
    const Register exists = IsInside(whole, 0, extent_ - 1);
    if (padding_ == "zeros") {
      return {Index(Select(exists, whole, Like(whole, 0))), weight, exists};
    }
    if (padding_ != "reflection") return {Index(whole), weight, std::nullopt};
    return {Index(Select(exists, whole, Reflected(whole))), weight,
            std::nullopt};
  }
  // Truncated, and inside.
  Register Index(Register at) const {
    return Cast(Between(at, 0, extent_ - 1), index_);
  }

  const std::string mode_;
  const std::string padding_;
  const bool align_corners_;
  const double extent_;
  const ScalarType index_;
};

// The sum of the elements that one position blends.
class GridBlend {
 public:
  GridBlend(const OpView& op, const IndexReader& read)
      : op_(op), read_(read), strides_(RowMajorStrides(Dims())) {}

  Register At(const std::vector<Register>& point) {
    sum_ = read_.Constant(read_.NumberType(0), 0);
    const Register offset =
        read_.Offset({point[0], point[1]}, {strides_[0], strides_[1]});
    Add(/*axis=*/0, AxesOf(point), offset, read_.Constant(ScalarType::kF64, 1),
        {});
    return *sum_;
  }

  // The element of mode "nearest" as bits.
  Register Nearest(const std::vector<Register>& point) const {
    Register offset =
        read_.Offset({point[0], point[1]}, {strides_[0], strides_[1]});
    Conditions exists;
    const std::vector<std::vector<Tap>> axes = AxesOf(point);
    for (size_t d = 0; d < axes.size(); ++d) {
      offset = offset + axes[d][0].index * read_.Index(strides_[d + 2]);
      if (axes[d][0].exists.has_value()) exists.Add(*axes[d][0].exists);
    }
    return read_.Element(0, offset, exists.all());
  }

 private:
  const Shape& Dims() const { return op_.operand_type(0).dims; }

  // The taps of every axis. The grid has the last one's coordinate first.
  std::vector<std::vector<Tap>> AxesOf(
      const std::vector<Register>& point) const {
    const size_t rank = Dims().size() - 2;
    const Shape grid = RowMajorStrides(op_.operand_type(1).dims);
    std::vector<Register> at = {point[0]};
    at.insert(at.end(), point.begin() + 2, point.end());
    const Register first =
        read_.Offset(at, absl::MakeConstSpan(grid).subspan(0, grid.size() - 1));
    std::vector<std::vector<Tap>> axes;
    for (size_t d = 0; d < rank; ++d) {
      const Register coordinate = read_.Number(
          1, first + read_.Index(static_cast<int64_t>(rank - 1 - d)));
      axes.push_back(GridAxis(op_, Dims()[d + 2], first.type)
                         .Taps(Cast(coordinate, ScalarType::kF64)));
    }
    return axes;
  }

  // Adds the elements of all taps from this axis on.
  void Add(size_t axis, const std::vector<std::vector<Tap>>& axes,
           Register offset, Register weight, const Conditions& exists) {
    if (axis == axes.size()) return AddElement(offset, weight, exists);
    for (const Tap& tap : axes[axis]) {
      Conditions both = exists;
      if (tap.exists.has_value()) both.Add(*tap.exists);
      Add(axis + 1, axes, offset + tap.index * read_.Index(strides_[axis + 2]),
          weight * tap.weight, both);
    }
  }
  // Elements with weight 0 may be infinite.
  void AddElement(Register offset, Register weight, Conditions exists) {
    exists.Add(NotEqual(weight, Like(weight, 0)));
    const Register x = read_.Number(0, offset, exists.all());
    sum_ = exists.Choose(Fma(Cast(weight, x.type), x, *sum_), *sum_);
  }

  const OpView& op_;
  const IndexReader& read_;
  const Shape strides_;
  std::optional<Register> sum_;
};

}  // namespace

absl::Status BuildGridSample(IndexNode& node) {
  const OpView& op = node.op();
  node.SetPoints(op.result_type(0).dims);
  if (op.attr_string("mode") == "nearest") {
    PARTITA_RETURN_IF_ERROR(
        node.SetOperands({OperandUse::kBits, OperandUse::kNumber}));
    node.Last([&](const IndexReader& read) -> std::vector<Register> {
      return {GridBlend(op, read).Nearest(node.Point(read))};
    });
    return absl::OkStatus();
  }
  if (!IsFloat(op.operand_type(0).dtype)) {
    return node.NotGenerated("a blend of integers, which truncates");
  }
  if (std::pow(GridSampler(op).taps(), op.operand_type(0).rank() - 2) >
      kMostTaps) {
    return node.NotGenerated("a blend of more than 64 elements");
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, GridBlend(op, read).At(node.Point(read)))};
  });
  return absl::OkStatus();
}

}  // namespace partita
