// Powers by a logarithm in f64, as its error grows with the exponent.
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "kernels/codegen/double_functions.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/polynomial.h"

namespace partita {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The f64 logarithm of an f32 that is positive and finite, or NaN.
Register LogOfF32(Register x) {
  const auto integer = [&](int64_t value) {
    return x.builder->Integer(ScalarType::kI32, value);
  };
  // Denormals are scaled into the normal range.
  const Register is_small = x < 0x1p-126;
  const Register scaled = Select(is_small, x * 0x1p23, x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const Register root = integer(0x3f3504f3);
  const Register bits = Bitcast(scaled, ScalarType::kI32) - root;
  const Register exponent = Shift(Opcode::kShiftRight, bits, 23) -
                            Select(is_small, integer(23), integer(0));
  const Register m =
      Cast(Bitcast((bits & integer(0x7fffff)) + root, ScalarType::kF32),
           ScalarType::kF64);
  // log m = 2 atanh(s).
  const Register s = (m - 1) / (m + 1);
  const Register z = s * s;
  const Register series = Polynomial(z, {2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                         2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  return Fma(Cast(exponent, ScalarType::kF64), kLn2, series * s);
}

// The f32 exponential of an f64.
Register ExpOfF64(Register x) {
  const Register above = Select(x < -104.0, Like(x, -104), x);
  const Register clamped = Select(Like(x, 89) < above, Like(x, 89), above);
  const Register n = Unary(Opcode::kRint, clamped * (1 / kLn2));
  const Register rest = Fma(n, -kLn2, clamped);
  return ScaledExp(Cast(rest, ScalarType::kF32), Cast(n, ScalarType::kI32));
}

Register IsWhole(Register x) { return Equal(Unary(Opcode::kFloor, x), x); }

// The logarithms of 0 and infinity are infinite.
Register LogOfMagnitude(Register a) {
  const Register log = LogOfF32(a);
  const Register finite =
      Select(Equal(a, Like(a, kInfinity)), Like(log, kInfinity), log);
  const Register number =
      Select(Equal(a, Like(a, 0)), Like(log, -kInfinity), finite);
  return Select(IsNan(a), Cast(a, ScalarType::kF64), number);
}

}  // namespace

Register Power(Register x, Register y) {
  const Register a = Unary(Opcode::kAbs, x);
  const Register zero = Like(y, 0);
  const Register one = Like(x, 1);
  const Register computed =
      x.type == ScalarType::kF64
          ? PowerOfMagnitudeInF64(a, Cast(y, ScalarType::kF64))
          : ExpOfF64(Cast(y, ScalarType::kF64) * LogOfMagnitude(a));
  // 1 to any power, and anything to the power of 0, even NaN.
  const Register is_one =
      Equal(y, zero) | Equal(x, one) |
      (Equal(a, one) & Equal(Unary(Opcode::kAbs, y), Like(y, kInfinity)));
  const Register magnitude = Select(is_one, one, computed);
  const Register is_odd =
      IsWhole(y) & NotEqual(Unary(Opcode::kFloor, y * 0.5) * 2, y);
  const bool is_wide = x.type == ScalarType::kF64;
  const ScalarType bits = is_wide ? ScalarType::kI64 : ScalarType::kI32;
  const Register sign =
      Bitcast(x, bits) &
      x.builder->Integer(bits, is_wide ? std::numeric_limits<int64_t>::min()
                                       : std::numeric_limits<int32_t>::min());
  const Register with_sign = Bitcast(Bitcast(magnitude, bits) ^ sign, x.type);
  const Register real = Select(is_odd, with_sign, magnitude);
  const Register is_complex = (x < 0.0) & (a < kInfinity) &
                              NotEqual(Unary(Opcode::kFloor, y), y) &
                              NotEqual(y, zero);
  return Select(is_complex, Like(x, std::numeric_limits<double>::quiet_NaN()),
                real);
}

}  // namespace partita
