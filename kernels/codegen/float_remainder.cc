// Remainders by long division, some bits of the quotient at a time.
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "kernels/codegen/float_functions.h"

namespace partita {

// In f64, which holds all bits of an f32 and of a part of the quotient: each
// product, and each rest, is exact.
Register FloatRemainder(Register a, Register b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int kBits = 29;
  // The greatest exponent of an f32 is 277 above the least one.
  constexpr int kRounds = 10;
  const Register dividend = Unary(Opcode::kAbs, Cast(a, ScalarType::kF64));
  const Register divisor = Unary(Opcode::kAbs, Cast(b, ScalarType::kF64));
  Register rest = dividend;
  double scale = 1;
  for (int round = 1; round < kRounds; ++round) scale *= 1 << kBits;
  for (int round = 0; round < kRounds; ++round, scale /= 1 << kBits) {
    const Register part = divisor * scale;
    const Register digits = Unary(Opcode::kFloor, rest / part);
    const Register left = Fma(-digits, part, rest);
    // The quotient may have been rounded up to the next integer.
    rest = Select(left < 0.0, left + part, left);
  }
  const Register magnitude =
      Select(Equal(divisor, Like(divisor, kInfinity)) & (dividend < kInfinity),
             dividend, rest);
  return WithSign(Cast(magnitude, ScalarType::kF32), a);
}

}  // namespace partita
