// Coordinates, rounding and weights.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/op_programs/resample_taps.h"

#include <string>
#include <vector>

#include "kernels/op_programs/cubic_weights.h"

namespace partita {
namespace {

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

}  // namespace

absl::Status CheckResampling(const IndexNode& node,
                             absl::Span<const AxisMap> maps) {
  const OpView& op = node.op();
  if (op.attr_string("coordinates") == "half_pixel_symmetric") {
    return node.NotGenerated("coordinates \"half_pixel_symmetric\"");
  }
  if (op.attr_string("mode") != "nearest" && op.attr_bool("exclude_outside")) {
    return node.NotGenerated("exclude_outside");
  }
  for (const AxisMap& map : maps) {
    if (map.scale >= 1e-6 && map.scale <= 1e6) continue;
    return node.NotGenerated("a scale beyond a million");
  }
  return absl::OkStatus();
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

std::vector<ResampleTap> BlendedTaps(const OpView& op, const AxisMap& map,
                                     Register i) {
  const Register at = Coordinate(op, map, i);
  const Register floor = Unary(Opcode::kFloor, at);
  const Register t = at - floor;
  const auto neighbour = [&](double step, Register weight) -> ResampleTap {
    return {Inside(floor + step, map, i.type), weight};
  };
  if (op.attr_string("mode") == "linear") {
    return {neighbour(0, 1.0 - t), neighbour(1, t)};
  }
  std::vector<ResampleTap> taps;
  double step = -1;
  for (const Register& weight : CubicWeightsOf(t, op.attr_float("cubic_a"))) {
    taps.push_back(neighbour(step, weight));
    step += 1;
  }
  return taps;
}

}  // namespace partita
