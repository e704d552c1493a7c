// Range reduction and series. The parts of ln 2 are those of fdlibm (Sun
// Microsystems 1993), the arc tangent is that of Cephes (Moshier 1992).
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/double_functions.h"

#include <cstdint>
#include <limits>

#include "kernels/codegen/logarithm.h"
#include "kernels/codegen/polynomial.h"

namespace partita {
namespace {

constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts. The first ends in zeros, so its products with small
// integers are exact.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFraction = 52;  // bits

Register Long(Register x, int64_t value) {
  return x.builder->Integer(ScalarType::kI64, value);
}
Register BitsOf(Register x) { return Bitcast(x, ScalarType::kI64); }

// NaN stays NaN.
Register Clamp(Register x, double low, double high) {
  x = Select(x < low, Like(x, low), x);
  return Select(Like(x, high) < x, Like(x, high), x);
}

// 2^n for the i64 n in [-1022, 1023].
Register PowerOfTwo(Register n) {
  return Bitcast(Shift(Opcode::kShiftLeft, n + Long(n, 1023), kFraction),
                 ScalarType::kF64);
}

// x = n ln 2 + rest, |rest| <= ln 2 / 2; e^rest - 1.
struct Reduced {
  Register n;  // i64
  Register expm1;
};
Reduced ByLn2(Register x) {
  const Register n = Unary(Opcode::kRint, x * kLog2E);
  const Register r = Fma(n, -kLn2Low, Fma(n, -kLn2High, x));
  const Register tail =
      Polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800,
                     1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                     1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2});
  return {Cast(n, ScalarType::kI64), Fma(tail, r * r, r)};
}

// A number in two parts, of which the second is small beside the first.
struct Pair {
  Register high;
  Register low;
};

// The upper half of the bits (Dekker 1971).
Register UpperHalf(Register x) {
  const Register scaled = x * 134217729.0;
  return scaled - (scaled - x);
}

// The product, and its rounding error.
Pair ProductOf(Register a, Register b) {
  const Register product = a * b;
  if (a.builder->has_fma()) return {product, Fma(a, b, -product)};
  const Register a_high = UpperHalf(a);
  const Register b_high = UpperHalf(b);
  const Register a_low = a - a_high;
  const Register b_low = b - b_high;
  const Register upper = a_high * b_high - product;
  return {product, (upper + a_high * b_low + a_low * b_high) + a_low * b_low};
}

// The sum, and its rounding error (Knuth 1969).
Pair SumOf(Register a, Register b) {
  const Register sum = a + b;
  const Register of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// x = 2^exponent fraction, for a positive finite x.
struct Scaled {
  Register exponent;  // f64
  Register fraction;  // in [sqrt(1/2), sqrt(2))
};
Scaled ScaledToOne(Register x) {
  // Denormals are scaled into the normal range.
  const Register is_small = x < 0x1p-1022;
  const Register scaled = Select(is_small, x * 0x1p54, x);
  const Register root = Long(x, 0x3fe6a09e667f3bcd);
  const Register bits = BitsOf(scaled) - root;
  const Register exponent = Shift(Opcode::kShiftRight, bits, kFraction) -
                            Select(is_small, Long(x, 54), Long(x, 0));
  const Register e = Cast(exponent, ScalarType::kF64);
  const Register fraction = Long(x, (int64_t{1} << kFraction) - 1);
  return {e, Bitcast((bits & fraction) + root, ScalarType::kF64)};
}

// The logarithm of a positive finite number, with several bits more than f64.
Pair LogPair(Register x) {
  const Scaled scaled = ScaledToOne(x);
  const Register e = scaled.exponent;
  const Register f = scaled.fraction - 1;
  // f / (2 + f), and what its f64 lacks.
  const Pair divisor = SumOf(Like(f, 2), f);
  const Register s = f / divisor.high;
  const Pair product = ProductOf(s, divisor.high);
  const Register lost =
      ((f - product.high) - product.low - s * divisor.low) / divisor.high;
  const Register z = s * s;
  const Register series =
      s * z *
      Polynomial(z, {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                     2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
  const Pair head = SumOf(e * kLn2High, s * 2);
  return SumOf(head.high, head.low + (series + lost * 2 + e * kLn2Low));
}

}  // namespace

Register ExpInF64(Register x) {
  const auto [n, expm1] = ByLn2(Clamp(x, -746, 710));
  // In two steps, since 2^n may be outside the range.
  const Register half = Shift(Opcode::kShiftRight, n, 1);
  return (expm1 + 1) * PowerOfTwo(half) * PowerOfTwo(n - half);
}

Register Expm1InF64(Register x) {
  const auto [n, expm1] = ByLn2(Clamp(x, -45, 710));
  // 2^n (expm1 + 1) - 1, halved in between, since 2^1024 is too large.
  const Register scale = PowerOfTwo(n - Long(n, 1));
  const Register result = Fma(expm1, scale, scale - 0.5) * 2;
  return Select(Equal(x, Like(x, 0)), x, result);
}

Register LogInF64(Register x) {
  const Scaled scaled = ScaledToOne(x);
  return Logarithm(x, scaled.exponent, scaled.fraction, {kLn2High, kLn2Low},
                   {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                    2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
}

Register AtanInF64(Register x) {
  constexpr double kPi = 3.141592653589793;
  constexpr double kTanOfThreeEighths = 2.414213562373095;  // of 3 pi / 8
  // What the f64 of pi / 2 lacks.
  constexpr double kRestOfHalfPi = 6.123233995736765886130e-17;
  const Register is_far = Like(x, kTanOfThreeEighths) < x;
  const Register is_middle = Like(x, 0.66) < x;
  // atan x is pi / 2 + atan(-1 / x), or pi / 4 + atan((x - 1) / (x + 1)).
  const auto choose = [&](Register far, Register middle, Register near) {
    return Select(is_far, far, Select(is_middle, middle, near));
  };
  const auto number = [&](double value) { return Like(x, value); };
  const Register t = choose(number(-1), x - 1, x) / choose(x, x + 1, number(1));
  const Register z = t * t;
  const Register above =
      Polynomial(z, {-8.750608600031904122785e-1, -1.615753718733365076637e1,
                     -7.500855792314704667340e1, -1.228866684490136173410e2,
                     -6.485021904942025371773e1});
  const Register below =
      Polynomial(z, {1.0, 2.485846490142306297962e1, 1.650270098316988542046e2,
                     4.328810604912902668951e2, 4.853903996359136964868e2,
                     1.945506571482613964425e2});
  const Register rest = t * (z * above / below) + t;
  const Register correction =
      choose(number(kRestOfHalfPi), number(kRestOfHalfPi / 2), number(0));
  return choose(number(kPi / 2), number(kPi / 4), number(0)) +
         (rest + correction);
}

Register PowerOfMagnitudeInF64(Register a, Register y) {
  const auto [finite, low] = LogPair(a);
  const Register high =
      Select(Equal(a, Like(a, 0)), Like(a, -kInfinity),
             Select(a < kInfinity, finite, a));  // infinity and NaN stay
  // Beyond these exponents every other base has the power 0 or infinity.
  const Register bounded = Clamp(y, -0x1p70, 0x1p70);
  const Pair product = ProductOf(bounded, high);
  const Register power = ExpInF64(product.high);
  const Register rest = product.low + bounded * low;
  const Register has_rest =
      (Unary(Opcode::kAbs, product.high) < 1000.0) & (power < kInfinity);
  return Select(has_rest, Fma(power, rest, power), power);
}

}  // namespace partita
