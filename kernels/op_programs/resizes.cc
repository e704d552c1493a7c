// Elements at positions of another shape (graph/ops/resample.h). Positions and
// weights are computed by each thread.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>
#include <vector>

#include "graph/ops/resample.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

AxisMap MapOfAxis(const OpView& op, size_t d) {
  return MapOf(op, static_cast<int>(d), op.operand_type(0).dims[d],
               op.attr_ints("sizes")[d]);
}

// In f32, or in f64 for elements of f64, with one rounding for each operation.
Register PositionOf(const std::string& mode, const AxisMap& map, Register i) {
  const ScalarType type = map.of_f64 ? ScalarType::kF64 : ScalarType::kF32;
  const Register at = Cast(i, type);
  const Register scale = Like(at, map.scale);
  if (mode == "asymmetric") return at / scale;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (mode == "align_corners") {
    if (map.to == 1) return Like(at, 0);
    return at * static_cast<double>(map.from - 1) /
           Like(at, static_cast<double>(map.to - 1));
  }
  if (mode == "pytorch_half_pixel" && map.to == 1) return Like(at, 0);
  return (at + 0.5) / scale - 0.5;
}

// The position, at most four elements outside the operand.
Register Coordinate(const OpView& op, const AxisMap& map, Register i) {
  const Register at = PositionOf(op.attr_string("coordinates"), map, i);
  const Register low = Like(at, -4);
  const Register high = Like(at, static_cast<double>(map.from) + 3);
  const Register above = Select(at < low, low, at);
  return Select(high < above, high, above);
}

// The whole number as an index of the operand's elements.
Register Inside(Register whole, const AxisMap& map, ScalarType index) {
  const Register at = Cast(whole, index);
  const Register last = Like(at, static_cast<double>(map.from - 1));
  const Register low = Select(at < Like(at, 0), Like(at, 0), at);
  return Select(low < last, low, last);
}

Register NearestInside(const OpView& op, const AxisMap& map, Register i) {
  // As NearestElement, which counts what is nearly the middle as the middle.
  constexpr double kMiddle = 1e-6;
  const std::string rounding = op.attr_string("nearest");
  const Register at = Cast(Coordinate(op, map, i), ScalarType::kF64);
  const auto whole = [&] {
    if (rounding == "floor") return Unary(Opcode::kFloor, at);
    if (rounding == "ceil") return Unary(Opcode::kCeil, at);
    if (rounding == "round_prefer_floor") {
      return Unary(Opcode::kCeil, at - 0.5 - kMiddle);
    }
    return Unary(Opcode::kFloor, at + 0.5 + kMiddle);
  };
  return Inside(whole(), map, i.type);
}

// A neighbour of a position.
struct Neighbour {
  Register index;
  Register weight;
};

// Keys' cubic (1981): of a distance up to 1, and of one from 1 to 2.
Register NearWeight(Register t, double a) {
  return (t * (a + 2) - (a + 3)) * t * t + 1.0;
}
Register FarWeight(Register t, double a) {
  return ((t * a - 5 * a) * t + 8 * a) * t - 4 * a;
}

std::vector<Neighbour> NeighboursOf(const OpView& op, const AxisMap& map,
                                    Register i) {
  const Register at = Coordinate(op, map, i);
  const Register floor = Unary(Opcode::kFloor, at);
  const Register t = at - floor;
  const Register rest = 1.0 - t;
  const auto neighbour = [&](double step, Register weight) -> Neighbour {
    return {Inside(floor + step, map, i.type), weight};
  };
  if (op.attr_string("mode") == "linear") {
    return {neighbour(0, rest), neighbour(1, t)};
  }
  const double a = op.attr_float("cubic_a");
  return {neighbour(-1, FarWeight(t + 1.0, a)), neighbour(0, NearWeight(t, a)),
          neighbour(1, NearWeight(rest, a)),
          neighbour(2, FarWeight(rest + 1.0, a))};
}

// The blend over dimensions [0, end) at a point whose later coordinates are
// those of elements.
class Blend {
 public:
  Blend(const OpView& op, const IndexReader& read)
      : op_(op), read_(read), strides_(RowMajorStrides(Dims())) {}

  Register At(std::vector<Register> point, size_t end) const {
    while (end > 0 && IsIdentity(MapOfAxis(op_, end - 1))) --end;
    if (end == 0) return read_.Number(0, read_.Offset(point, strides_));
    const size_t d = end - 1;
    Register sum = read_.Constant(read_.NumberType(0), 0);
    for (const Neighbour& n : NeighboursOf(op_, MapOfAxis(op_, d), point[d])) {
      std::vector<Register> at = point;
      at[d] = n.index;
      const Register value = At(std::move(at), d);
      const Register weight = Cast(n.weight, value.type);
      // Also if the value is infinite.
      const Register is_none = Equal(weight, Like(weight, 0));
      sum = Select(is_none, sum, Fma(weight, value, sum));
    }
    return sum;
  }

 private:
  const Shape& Dims() const { return op_.operand_type(0).dims; }
  const OpView& op_;
  const IndexReader& read_;
  const Shape strides_;
};

absl::Status CheckResize(const IndexNode& node) {
  const OpView& op = node.op();
  if (op.attr_string("coordinates") == "half_pixel_symmetric") {
    return node.NotGenerated("coordinates \"half_pixel_symmetric\"");
  }
  const bool blends = op.attr_string("mode") != "nearest";
  if (blends && op.attr_bool("exclude_outside")) {
    return node.NotGenerated("exclude_outside");
  }
  if (blends && !IsFloat(op.operand_type(0).dtype)) {
    return node.NotGenerated("a blend of integers");
  }
  for (size_t d = 0; d < op.operand_type(0).dims.size(); ++d) {
    const double scale = MapOfAxis(op, d).scale;
    if (scale >= 1e-6 && scale <= 1e6) continue;
    return node.NotGenerated("a scale beyond a million");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status BuildResize(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  PARTITA_RETURN_IF_ERROR(CheckResize(node));
  node.SetPoints(op.result_type(0).dims);
  if (op.attr_string("mode") == "nearest") {
    PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
    node.Last([&](const IndexReader& read) -> std::vector<Register> {
      std::vector<Register> point = node.Point(read);
      for (size_t d = 0; d < point.size(); ++d) {
        const AxisMap map = MapOfAxis(op, d);
        if (!IsIdentity(map)) point[d] = NearestInside(op, map, point[d]);
      }
      return {read.Element(0, read.Offset(point, RowMajorStrides(x)))};
    });
    return absl::OkStatus();
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredIn(type, Blend(op, read).At(node.Point(read), x.size()))};
  });
  return absl::OkStatus();
}

}  // namespace partita
