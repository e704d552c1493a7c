// Regions of images, sampled and pooled (graph/ops/roi_align.cc). Positions and
// weights are computed in f64, as there.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

Register Greater(Register a, double b) { return Select(a < b, Like(a, b), a); }

// An element along a side and its weight, 0 outside.
struct Near {
  Register index;
  Register weight;
};

// The position of point `point` of bin `bin` along a side from `from` to `to`.
Register PositionOf(const OpView& op, Register from, Register to, int64_t bins,
                    Register bin, Register point) {
  const double scale = op.attr_float("spatial_scale");
  const bool half_pixel = op.attr_bool("half_pixel");
  Register length = (to - from) * scale;
  if (!half_pixel) length = Greater(length, 1);
  const Register size = length / Like(length, static_cast<double>(bins));
  const double points = static_cast<double>(op.attr_int("sampling_ratio"));
  const Register in_bin =
      (Cast(point, ScalarType::kF64) + 0.5) / Like(length, points);
  return from * scale - (half_pixel ? 0.5 : 0) +
         size * (Cast(bin, ScalarType::kF64) + in_bin);
}

// The elements before and after a position.
std::vector<Near> Neighbours(Register at, int64_t extent, ScalarType index) {
  const double last = static_cast<double>(extent - 1);
  const Register is_near =
      (Like(at, -1) <= at) & (at <= Like(at, static_cast<double>(extent)));
  const Register above = Select(is_near, Greater(at, 0), Like(at, 0));
  const Register inside = Select(Like(at, last) < above, Like(at, last), above);
  const Register low = Unary(Opcode::kFloor, inside);
  const Register ratio = inside - low;
  const Register next = Select(low < last, low + 1, Like(low, last));
  const Register none = Like(at, 0);
  return {{Cast(low, index), Select(is_near, 1 - ratio, none)},
          {Cast(next, index), Select(is_near, ratio, none)}};
}

// What a point of a bin joins with the state.
class RoiPoint {
 public:
  RoiPoint(const IndexNode& node, const IndexReader& read)
      : op_(node.op()),
        read_(read),
        point_(node.Point(read)),
        step_(node.Step(read)),
        image_(ReadIndex(read, 2, point_[0], Dims()[0], /*from_end=*/false)) {}

  Register Join(Register state) const {
    const std::vector<Near> columns = Side(0, 3, step_[1]);
    for (const Near& y : Side(1, 2, step_[0])) {
      for (const Near& x : columns) {
        const Register value = Value(y, x);
        state = op_.attr_string("mode") == "max"
                    ? Select(state < value, value, state)
                    : state + value;
      }
    }
    return state;
  }

 private:
  const Shape& Dims() const { return op_.operand_type(0).dims; }

  // Of axis `dim`, between coordinates `first` and `first` + 2 of the region.
  std::vector<Near> Side(int64_t first, size_t dim, Register step) const {
    const auto coordinate = [&](int64_t i) {
      const Register at = point_[0] * read_.Index(4) + read_.Index(i);
      return Cast(read_.Number(1, at), ScalarType::kF64);
    };
    const Register at =
        PositionOf(op_, coordinate(first), coordinate(first + 2),
                   op_.result_type(0).dims[dim], point_[dim], step);
    return Neighbours(at, Dims()[dim], point_[dim].type);
  }

  Register Value(const Near& y, const Near& x) const {
    const Register weight = y.weight * x.weight;
    const Register counts =
        image_.is_inside & NotEqual(weight, Like(weight, 0));
    const Register offset = read_.Offset(
        {image_.index, point_[1], y.index, x.index}, RowMajorStrides(Dims()));
    const Register value = read_.Number(0, offset, counts);
    return Select(counts, Cast(weight, value.type) * value, Like(value, 0));
  }

  const OpView& op_;
  const IndexReader& read_;
  const std::vector<Register> point_;
  const std::vector<Register> step_;
  const SelectedIndex image_;
};

}  // namespace

absl::Status BuildRoiAlign(IndexNode& node) {
  const OpView& op = node.op();
  const int64_t points = op.attr_int("sampling_ratio");
  if (points == 0) return node.NotGenerated("points that the regions decide");
  if (op.operand_type(0).num_elements() == 0) {
    return node.NotGenerated("no elements");
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands(
      {OperandUse::kNumber, OperandUse::kNumber, OperandUse::kIndex}));
  const ScalarType type = node.program().operands[0].type;
  const bool is_max = op.attr_string("mode") == "max";
  node.SetPoints(op.result_type(0).dims);
  node.SetSteps({points, points});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {
        read.Constant(read.NumberType(0),
                      is_max ? -std::numeric_limits<double>::infinity() : 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    return {RoiPoint(node, read).Join(read.State(0))};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register total = read.State(0);
    const double count = static_cast<double>(points * points);
    return {StoredNumber(type, is_max ? total : total / Like(total, count))};
  });
  return absl::OkStatus();
}

}  // namespace partita
