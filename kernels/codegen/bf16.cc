// Shifts and roundings of the bits.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/bf16.h"

#include <cstdint>

namespace partita {
namespace {

constexpr int kDropped = 16;       // bits of an f32
constexpr int64_t kHalf = 0x7fff;  // a little less than half of what is left
constexpr int64_t kQuiet = 0x40;   // in a bf16 that is a NaN

}  // namespace

Register WidenBf16(Register x) {
  const Register bits = Cast(x, ScalarType::kI32);
  return Bitcast(Shift(Opcode::kShiftLeft, bits, kDropped), ScalarType::kF32);
}

Register NarrowToBf16(Register x) {
  const auto integer = [&](int64_t value) {
    return x.builder->Integer(ScalarType::kI32, value);
  };
  const Register bits = Bitcast(x, ScalarType::kI32);
  const Register upper = Shift(Opcode::kShiftRight, bits, kDropped);
  // What is added carries into the upper bits from above half on, and from half
  // on if they are odd; a carry out of the fraction is the next exponent.
  const Register carried = bits + integer(kHalf) + (upper & integer(1));
  const Register rounded = Shift(Opcode::kShiftRight, carried, kDropped);
  // The payload may have been in the lower bits alone.
  const Register nan = upper | integer(kQuiet);
  return Cast(Select(IsNan(x), nan, rounded), ScalarType::kBF16);
}

}  // namespace partita
