// Shifts and rounding of bits, for f16 on processors without a conversion
// instruction.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/halves.h"

#include <bit>
#include <cstdint>

namespace partita {
namespace {

Register Integer(Register x, int64_t value) {
  return x.builder->Integer(ScalarType::kI32, value);
}
Register BitsOf(Register x) { return Bitcast(x, ScalarType::kI32); }
Register Single(Register bits) { return Bitcast(bits, ScalarType::kF32); }

// Rounds to nearest even: the addend carries into the kept bits if the dropped
// ones are more than half of the last kept place, or exactly half and the kept
// bits are odd. A carry out of the fraction gives the next exponent.
Register Carried(Register bits, int dropped) {
  const Register odd =
      Shift(Opcode::kShiftRight, bits, dropped) & Integer(bits, 1);
  return bits + Integer(bits, (int64_t{1} << (dropped - 1)) - 1) + odd;
}

// A bf16 is the upper half of an f32.
namespace bf16 {

constexpr int kDropped = 16;

Register Upcast(Register half) {
  const Register bits = Cast(half, ScalarType::kI32);
  return Single(Shift(Opcode::kShiftLeft, bits, kDropped));
}

Register RoundTo(Register x) {
  const Register bits = BitsOf(x);
  // The payload of a NaN may be in the lower bits only.
  const Register quiet = bits | Integer(bits, 0x400000);
  const Register rounded = Select(IsNan(x), quiet, Carried(bits, kDropped));
  return Single(rounded & Integer(bits, -(int64_t{1} << kDropped)));
}

Register Narrow(Register x) {
  return Cast(Shift(Opcode::kShiftRight, BitsOf(x), kDropped),
              ScalarType::kBF16);
}

}  // namespace bf16

// With instructions that every processor has.
namespace f16 {

constexpr int kDropped = 13;  // bits of an f32's fraction
constexpr int kSignShift = 16;
constexpr int64_t kMagnitude = 0x7fff;
constexpr int64_t kInfinity = 0x7c00;
constexpr int64_t kQuietNan = 0x7e00;
// The difference of the exponents: exact, also if either value is denormal.
constexpr float kScale = 0x1p112f;
constexpr int64_t kRebias = int64_t{127 - 15} << 23;
constexpr float kLeastNormal = 0x1p-14f;
constexpr float kBeyond = 0x1p16f;  // infinity from here on
// Its last place is that of f16's denormals.
constexpr float kDenormalOne = 0.5f;

Register Upcast(Register half) {
  const Register bits = Cast(half, ScalarType::kI32);
  const Register magnitude = bits & Integer(bits, kMagnitude);
  const Register shifted = Shift(Opcode::kShiftLeft, magnitude, kDropped);
  const Register finite = BitsOf(Single(shifted) * kScale);
  const Register beyond = shifted | Integer(bits, 0x7f800000);
  const Register sign = Shift(Opcode::kShiftLeft, bits, kSignShift) &
                        Integer(bits, -(int64_t{1} << 31));
  return Single(Select(magnitude < Integer(bits, kInfinity), finite, beyond) |
                sign);
}

// The magnitude's bits from those of a non-negative f32.
Register NarrowMagnitude(Register x) {
  const Register bits = BitsOf(x);
  const Register normal =
      Shift(Opcode::kShiftRight,
            Carried(bits, kDropped) - Integer(bits, kRebias), kDropped);
  const Register denormal =
      BitsOf(x + kDenormalOne) -
      Integer(bits, std::bit_cast<uint32_t>(kDenormalOne));
  const Register finite = Select(x < kLeastNormal, denormal, normal);
  const Register number = Select(x < kBeyond, finite, Integer(bits, kInfinity));
  return Select(IsNan(x), Integer(bits, kQuietNan), number);
}

Register Narrow(Register x) {
  const Register sign = Shift(Opcode::kShiftRight, BitsOf(x), kSignShift) &
                        Integer(x, -(int64_t{1} << 15));
  return Cast(NarrowMagnitude(Unary(Opcode::kAbs, x)) | sign, ScalarType::kF16);
}

}  // namespace f16

}  // namespace

bool IsHalf(ScalarType type) {
  return type == ScalarType::kBF16 || type == ScalarType::kF16;
}

Register Upcast(Register half) {
  if (half.type == ScalarType::kBF16) return bf16::Upcast(half);
  return half.builder->converts_f16() ? Cast(half, ScalarType::kF32)
                                      : f16::Upcast(half);
}

Register RoundTo(ScalarType half, Register x) {
  if (half == ScalarType::kBF16) return bf16::RoundTo(x);
  return Upcast(Narrow(half, x));
}

Register Narrow(ScalarType half, Register x) {
  if (half == ScalarType::kBF16) return bf16::Narrow(x);
  return x.builder->converts_f16() ? Cast(x, half) : f16::Narrow(x);
}

}  // namespace partita
