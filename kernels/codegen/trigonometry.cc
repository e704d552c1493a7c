// Range reduction with enough bits of 2 / pi for every f32 (Payne and Hanek
// 1983), in 64-bit integers, which each hold a word of 32 bits.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <limits>

#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/polynomial.h"

namespace partita {
namespace {

constexpr double kHalfPi = 1.5707963267948966;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 26 zeros, and the bits of 2 / pi.
constexpr std::array<uint32_t, 8> kTwoOverPi = {
    0x00000028, 0xbe60db93, 0x91054a7f, 0x09d5f47d,
    0x4d377036, 0xd8a5664f, 0x10e4107f, 0x9458eaf7};

Register Long(Register x, int64_t value) {
  return x.builder->Integer(ScalarType::kI64, value);
}
Register Int(Register x, int64_t value) {
  return x.builder->Integer(ScalarType::kI32, value);
}
Register LowWord(Register x) { return x & Long(x, 0xffffffff); }
Register HighWord(Register x) { return Shift(Opcode::kShiftRight, x, 32); }

// Word number `word` + `k` of 2 / pi, where `word` is 0 to 4.
Register WordOf(Register word, int64_t k) {
  Register chosen = Long(word, kTwoOverPi[static_cast<size_t>(k + 4)]);
  for (int64_t i = 3; i >= 0; --i) {
    chosen = Select(Equal(word, Int(word, i)),
                    Long(word, kTwoOverPi[static_cast<size_t>(k + i)]), chosen);
  }
  return chosen;
}

// Three words of 2 / pi from bit number `bit` on.
std::array<Register, 3> WordsFrom(Register bit) {
  const Register word = Shift(Opcode::kShiftRight, bit, 5);
  const Register shift = bit & Int(bit, 31);
  const Register biased = shift + Int(bit, 127);
  const Register factor =
      Cast(Bitcast(Shift(Opcode::kShiftLeft, biased, 23), ScalarType::kF32),
           ScalarType::kI64);
  const auto shifted = [&](int64_t k) {
    return LowWord(WordOf(word, k) * factor +
                   HighWord(WordOf(word, k + 1) * factor));
  };
  return {shifted(0), shifted(1), shifted(2)};
}

// x = quadrant * pi / 2 + rest, where |rest| <= pi / 4; the quadrant modulo 4.
struct Angle {
  Register quadrant;  // i64
  Register rest;
};

// Of x that is not negative.
Angle AngleOf(Register x) {
  const Register bits = Bitcast(x, ScalarType::kI32);
  const Register exponent = Shift(Opcode::kShiftRight, bits, 23);
  // x = mantissa * 2^(exponent - 150).
  const Register mantissa =
      Cast((bits & Int(x, 0x7fffff)) | Int(x, 0x800000), ScalarType::kI64);
  const auto [high, middle, low] = WordsFrom(exponent - Int(x, 126));
  // The number of quadrants modulo 4, in units of 2^-62.
  const Register carried = mantissa * middle + HighWord(mantissa * low);
  const Register turns =
      Shift(Opcode::kShiftLeft, mantissa * high + HighWord(carried), 32) +
      LowWord(carried);
  const Register quadrant =
      Shift(Opcode::kShiftRight, turns + Long(x, int64_t{1} << 61), 62) &
      Long(x, 3);
  const Register part = turns - Shift(Opcode::kShiftLeft, quadrant, 62);
  const Register rest = Cast(part, ScalarType::kF32) * (kHalfPi * 0x1p-62);
  const Register is_small = x < kHalfPi / 2;
  return {Select(is_small, Long(x, 0), quadrant), Select(is_small, x, rest)};
}

// For |r| <= pi / 4.
Register SineOfRest(Register r) {
  const Register z = r * r;
  return Fma(
      Polynomial(z, {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6}) * z, r,
      r);
}
Register CosineOfRest(Register r) {
  const Register z = r * r;
  return Fma(Polynomial(z, {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24,
                            -1.0 / 2}),
             z, 1);
}

Register HasBit(Register quadrant, int64_t bit) {
  return Equal(quadrant & Long(quadrant, bit), Long(quadrant, bit));
}

// NaN for infinities and NaN.
Register IfFinite(Register x, Register value) {
  return Select(Unary(Opcode::kAbs, x) < kInfinity, value, x - x);
}

Register WithSignOf(Register x, Register value) {
  const Register sign = Bitcast(x, ScalarType::kI32) &
                        Int(x, std::numeric_limits<int32_t>::min());
  return Bitcast(Bitcast(value, ScalarType::kI32) ^ sign, ScalarType::kF32);
}

}  // namespace

Register Sin(Register x) {
  const auto [quadrant, rest] = AngleOf(Unary(Opcode::kAbs, x));
  const Register value =
      Select(HasBit(quadrant, 1), CosineOfRest(rest), SineOfRest(rest));
  return IfFinite(x, WithSignOf(x, Select(HasBit(quadrant, 2), -value, value)));
}

Register Cos(Register x) {
  const auto [quadrant, rest] = AngleOf(Unary(Opcode::kAbs, x));
  const Register value =
      Select(HasBit(quadrant, 1), SineOfRest(rest), CosineOfRest(rest));
  const Register next = quadrant + Long(x, 1);
  return IfFinite(x, Select(HasBit(next, 2), -value, value));
}

Register Tan(Register x) {
  const auto [quadrant, rest] = AngleOf(Unary(Opcode::kAbs, x));
  const Register sine = SineOfRest(rest);
  const Register cosine = CosineOfRest(rest);
  const Register is_odd = HasBit(quadrant, 1);
  return IfFinite(x, WithSignOf(x, Select(is_odd, -cosine, sine) /
                                       Select(is_odd, sine, cosine)));
}

}  // namespace partita
