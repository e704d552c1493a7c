// Range reduction and polynomials. Coefficients that are not simple fractions
// are fitted at Chebyshev nodes with 40 digits.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/float_functions.h"

#include <limits>

#include "kernels/codegen/double_functions.h"
#include "kernels/codegen/logarithm.h"
#include "kernels/codegen/polynomial.h"

namespace partita {
namespace {

constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts. The first ends in zeros, so its products with small
// integers are exact.
constexpr double kLn2High = 0.693359375;
constexpr double kLn2Low = -2.12194440054690583e-4;

// NaN stays NaN.
Register Clamp(Register x, double low, double high) {
  x = Select(x < low, Like(x, low), x);
  return Select(Like(x, high) < x, Like(x, high), x);
}

// 2^n for the integer register n in [-126, 127].
Register PowerOfTwo(Register n) {
  const Register biased = n + n.builder->Integer(ScalarType::kI32, 127);
  return Bitcast(Shift(Opcode::kShiftLeft, biased, 23), ScalarType::kF32);
}

// x = n ln 2 + rest, |rest| <= ln 2 / 2.
struct Reduced {
  Register n;  // i32
  Register rest;
};
Reduced ByLn2(Register x) {
  // Adding 1.5 * 2^23 leaves the rounded number in the low bits.
  constexpr double kMagic = 12582912;
  const Register shifted = Fma(x, kLog2E, Like(x, kMagic));
  const Register n = shifted - kMagic;
  Register rest = Fma(n, -kLn2High, x);
  rest = Fma(n, -kLn2Low, rest);
  const Register bits = Bitcast(shifted, ScalarType::kI32);
  return {bits - Bitcast(Like(x, kMagic), ScalarType::kI32), rest};
}

Register Abs(Register x) { return Unary(Opcode::kAbs, x); }

// (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2.
Register ExpTail(Register r) {
  return Polynomial(
      r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2});
}

// A square in two parts, since its rounding error would grow in an exponent.
struct Square {
  Register value;
  Register lost;
};
// The rounding error of a square, from halves whose products are exact (Dekker
// 1971): the upper twelve bits of `x`, and the rest.
Register LostByHalves(Register x, Register square) {
  const Register upper_bits = x.builder->Integer(ScalarType::kI32, -4096);
  const Register high =
      Bitcast(Bitcast(x, ScalarType::kI32) & upper_bits, ScalarType::kF32);
  const Register low = x - high;
  return (high * high - square + high * 2 * low) + low * low;
}

Square SquareOf(Register x) {
  const Register square = x * x;
  if (!x.builder->has_fma()) return {square, LostByHalves(x, square)};
  return {square, Fma(x, x, -square)};
}

// erfc(z), in two parts.
struct Erfc {
  Register decay;  // e^(-z^2)
  Register rest;

  Register Whole() const { return decay * rest; }
};

// For z in [0, 15]; erfc is zero in f32 above.
Erfc ErfcOfMagnitude(Register z, Square square) {
  // (1 + 2 z) e^(z^2) erfc(z) is smooth in (z - 2) / (z + 2). One division, the
  // slowest instruction here, gives both quotients.
  const Register divisor = Fma(z, 2, Like(z, 1));
  const Register inverse = 1.0 / (divisor * (z + 2));
  const Register scaled = Polynomial(
      (z - 2) * divisor * inverse,
      {6.870975786e-5, -0.0002854819786, -0.001259800476, 0.001195074989,
       0.008618949491, -0.00801896355, -0.05419715759, 0.1640500669,
       -0.1660321869, -0.09276379576, 1.276978404});
  const Register decay = Exp(-square.value);
  return {Fma(-decay, square.lost, decay), scaled * ((z + 2) * inverse)};
}

// NaN stays NaN.
Register AtMost(Register x, double most) {
  return Select(Like(x, most) < x, Like(x, most), x);
}

// The normal distribution's tail is zero in f32 from here on.
constexpr double kNormalEnd = 21;

// Twice the integral of the normal distribution from x to infinity, for x in
// [0, kNormalEnd].
Erfc TwiceNormalTail(Register x) {
  // The square of x / sqrt(2), without the rounding error of that quotient.
  const Square square = SquareOf(x);
  return ErfcOfMagnitude(x * 0.70710678118654752,
                         {square.value * 0.5, square.lost * 0.5});
}

}  // namespace

Register WithSign(Register magnitude, Register sign_of) {
  const bool is_wide = magnitude.type == ScalarType::kF64;
  const ScalarType bits = is_wide ? ScalarType::kI64 : ScalarType::kI32;
  const Register mask = magnitude.builder->Integer(
      bits, is_wide ? std::numeric_limits<int64_t>::min()
                    : std::numeric_limits<int32_t>::min());
  const Register sign = Bitcast(sign_of, bits) & mask;
  return Bitcast(Bitcast(magnitude, bits) | sign, magnitude.type);
}

Register ScaledExp(Register rest, Register n) {
  const Register value = Fma(ExpTail(rest), rest * rest, rest) + 1;
  // In two steps, since 2^n may be outside the range of f32.
  const Register half = Shift(Opcode::kShiftRight, n, 1);
  return value * PowerOfTwo(half) * PowerOfTwo(n - half);
}

Register Exp(Register x) {
  if (x.type == ScalarType::kF64) return ExpInF64(x);
  const Reduced reduced = ByLn2(Clamp(x, -104, 89));
  return ScaledExp(reduced.rest, reduced.n);
}

Register Expm1(Register x) {
  if (x.type == ScalarType::kF64) return Expm1InF64(x);
  const Reduced reduced = ByLn2(Clamp(x, -20, 89));
  const Register r = reduced.rest;
  const Register value = Fma(ExpTail(r), r * r, r);
  // 2^n (value + 1) - 1, halved in between, since 2^128 is too large.
  const Register one = x.builder->Integer(ScalarType::kI32, 1);
  const Register scale = PowerOfTwo(reduced.n - one);
  const Register result = Fma(value, scale, scale - 0.5) * 2;
  return Select(Equal(x, Like(x, 0)), x, result);
}

Register Log(Register x) {
  if (x.type == ScalarType::kF64) return LogInF64(x);
  ProgramBuilder& b = *x.builder;
  const auto integer = [&](int64_t value) {
    return b.Integer(ScalarType::kI32, value);
  };
  // Denormals are scaled into the normal range.
  const Register small = x < 0x1p-126;
  const Register scaled = Select(small, x * 0x1p23, x);
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)).
  const Register root = integer(0x3f3504f3);
  const Register bits = Bitcast(scaled, ScalarType::kI32) - root;
  const Register exponent = Shift(Opcode::kShiftRight, bits, 23);
  const Register e =
      Cast(exponent - Select(small, integer(23), integer(0)), ScalarType::kF32);
  const Register m =
      Bitcast((bits & integer(0x7fffff)) + root, ScalarType::kF32);
  return Logarithm(x, e, m, {kLn2High, kLn2Low},
                   {2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
}

Register Log1p(Register x) {
  const Register sum = x + 1;
  return Log(sum) - (sum - 1 - x) / sum;
}

Register Tanh(Register x) {
  const Register t = Expm1(Abs(x) * -2);
  return WithSign(Abs(-t / (t + 2)), x);
}

Register Sigmoid(Register x) {
  const Register t = Exp(-Abs(x));
  return Select(x < 0.0, t, Like(x, 1)) / (t + 1);
}

Register Softplus(Register x) {
  return Select(x < 0.0, Like(x, 0), x) + Log1p(Exp(-Abs(x)));
}

Register Erf(Register x) {
  const Register z = Abs(x);
  const Register near =
      x * Polynomial(x * x, {7.875875063e-5, -0.0008016864287, 0.005189087423,
                             -0.02685421201, 0.1128359472, -0.3761262667,
                             1.128379166});
  const Register bounded = AtMost(z, 15);
  const Register far =
      WithSign(1 - ErfcOfMagnitude(bounded, SquareOf(bounded)).Whole(), x);
  return Select(z < 1, near, far);
}

Register GeluByErf(Register x) {
  const Register tail =
      TwiceNormalTail(AtMost(Abs(x), kNormalEnd)).Whole() * 0.5;
  return x * Select(x < 0.0, tail, 1 - tail);
}

Register GeluSlope(Register x) {
  constexpr double kDensity = 0.3989422804014327;  // 1 / sqrt(2 pi)
  const Register bounded = AtMost(Abs(x), kNormalEnd);
  const Erfc tail = TwiceNormalTail(bounded);
  // The integral up to -|x| minus |x| times the density. Both have the factor
  // `decay`, so the difference is taken without it.
  const Register slope = tail.decay * Fma(bounded, -kDensity, tail.rest * 0.5);
  return Select(x < 0.0, slope, 1 - slope);
}

Register GeluByTanh(Register x) {
  // (1 + tanh u) / 2 is the sigmoid of 2 u.
  constexpr double kTwice = 1.5957691216057308;  // 2 sqrt(2 / pi)
  const Register cube = x * x * x;
  return x * Sigmoid(Fma(cube, 0.044715, x) * kTwice);
}

}  // namespace partita
