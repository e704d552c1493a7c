// Divisors and amounts are chosen so that instructions are defined for them.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/integer_functions.h"

namespace partita {
namespace {

// `b` where a division by it is defined for every dividend, otherwise 1.
struct Divisor {
  explicit Divisor(Register b)
      : is_zero(Equal(b, Like(b, 0))),
        is_minus_one(IsUnsignedType(b.type)
                         ? b.builder->Integer(ScalarType::kBool, 0)
                         : Equal(b, Like(b, -1))),
        safe(Select(is_zero | is_minus_one, Like(b, 1), b)) {}
  Register is_zero;
  Register is_minus_one;
  Register safe;
};

// 0 for amounts of all bits and more.
Register Shifted(Opcode op, Register a, Register b) {
  const int64_t bits = 8 * BytesOf(a.type);
  const Register zero = Like(b, 0);
  const Register is_near = b < Like(b, static_cast<double>(bits));
  const Register shifted = Shift(op, a, Select(is_near, b, zero));
  return Select(is_near, shifted, Like(a, 0));
}

}  // namespace

Register IntegerQuotient(Register a, Register b) {
  const Divisor divisor(b);
  const Register quotient = Quotient(a, divisor.safe);
  return Select(divisor.is_zero, Like(a, 0),
                Select(divisor.is_minus_one, -a, quotient));
}

Register IntegerRemainder(Register a, Register b) {
  return Remainder(a, Divisor(b).safe);
}

Register ShiftedLeft(Register a, Register b) {
  return Shifted(Opcode::kShiftLeft, a, b);
}
Register ShiftedRight(Register a, Register b) {
  return Shifted(Opcode::kShiftRight, a, b);
}

Register IntegerPower(Register a, Register n, int bits) {
  const Register zero = Like(n, 0);
  const auto has_bit = [&](int bit) {
    const uint64_t mask = uint64_t{1} << bit;
    return NotEqual(n & n.builder->Integer(n.type, static_cast<int64_t>(mask)),
                    zero);
  };
  const Register one = Like(a, 1);
  Register power = one;
  Register square = a;
  for (int bit = 0; bit < bits; ++bit) {
    power = Select(has_bit(bit), power * square, power);
    if (bit + 1 < bits) square = square * square;
  }
  if (IsUnsignedType(n.type)) return power;
  // 1 / a^|n| is 0, except for 1 and -1.
  const Register minus_one = Like(a, -1);
  const Register is_minus_one = a.type == ScalarType::kU32
                                    ? a.builder->Integer(ScalarType::kBool, 0)
                                    : Equal(a, minus_one);
  const Register inverse = Select(
      Equal(a, one), one,
      Select(is_minus_one, Select(has_bit(0), minus_one, one), Like(a, 0)));
  return Select(n < zero, inverse, power);
}

}  // namespace partita
