// Casts, clamps and rounding to odd.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/narrow_types.h"

#include <limits>

#include "kernels/codegen/halves.h"

namespace partita {
namespace {

Register Integer(Register like, int64_t value) {
  return like.builder->Integer(like.type, value);
}

// The nearest f32 of an f64, except that an inexact one is the neighbour with
// an odd fraction. So rounding it again, to fewer places, is like rounding the
// f64 (Boldo and Melquiond 2008).
Register OddF32(Register x) {
  const Register nearest = Cast(x, ScalarType::kF32);
  const Register back = Cast(nearest, ScalarType::kF64);
  const Register bits = Bitcast(nearest, ScalarType::kI32);
  const Register is_beyond = Unary(Opcode::kAbs, x) < Unary(Opcode::kAbs, back);
  const Register truncated =
      Select(is_beyond, bits - Integer(bits, 1), bits) | Integer(bits, 1);
  return Select(Equal(back, x) | IsNan(x), nearest,
                Bitcast(truncated, ScalarType::kF32));
}

Register Between(Register x, int64_t least, int64_t greatest) {
  const Register low = Integer(x, least);
  const Register high = Integer(x, greatest);
  const Register above = Select(x < low, low, x);
  return Select(high < above, high, above);
}

// The f32 of an integer that rounds to the same f16: values outside these
// bounds become infinite.
Register BoundedForF16(Register x) {
  constexpr int64_t kInfinite = 1 << 17;
  const int64_t least = IsUnsignedType(x.type) ? 0 : -kInfinite;
  return Cast(Between(x, least, kInfinite), ScalarType::kF32);
}

// A number as an f32 that rounds to the same 16-bit float as its f64.
Register ForHalf(ScalarType half, Register x) {
  if (x.type == ScalarType::kF32 || x.type == ScalarType::kBool) {
    return Cast(x, ScalarType::kF32);
  }
  if (half == ScalarType::kF16 && !IsFloatType(x.type)) {
    return BoundedForF16(x);
  }
  return OddF32(Cast(x, ScalarType::kF64));
}

}  // namespace

bool IsNarrowInteger(ScalarType type) {
  return type == ScalarType::kI8 || type == ScalarType::kU8 ||
         type == ScalarType::kI16 || type == ScalarType::kU16;
}

ScalarType ComputedType(ScalarType type) {
  if (IsHalf(type)) return ScalarType::kF32;
  return IsNarrowInteger(type) ? ScalarType::kI32 : type;
}

Register Loaded(Register element) {
  return IsHalf(element.type) ? Upcast(element)
                              : Cast(element, ComputedType(element.type));
}

Register RoundedTo(ScalarType type, Register x) {
  if (IsHalf(type)) return RoundTo(type, x);
  return IsNarrowInteger(type) ? Loaded(Cast(x, type)) : x;
}

Register Narrowed(ScalarType type, Register x) {
  if (IsHalf(type)) return Narrow(type, x);
  return IsNarrowInteger(type) ? Cast(x, type) : x;
}

Register StoredAs(ScalarType type, Register x) {
  return Narrowed(type, IsHalf(type) ? RoundTo(type, x) : x);
}

ScalarType NumberType(ScalarType type) {
  return type == ScalarType::kBool ? ScalarType::kI32 : ComputedType(type);
}

Register LoadedNumber(Register element) {
  return element.type == ScalarType::kBool ? Cast(element, ScalarType::kI32)
                                           : Loaded(element);
}

Register RoundedNumber(ScalarType type, Register x) {
  return type == ScalarType::kBool ? Cast(Cast(x, type), x.type)
                                   : RoundedTo(type, x);
}

Register StoredNumber(ScalarType type, Register x) {
  return type == ScalarType::kBool ? Cast(x, type) : StoredAs(type, x);
}

Register CastFor(ScalarType type, Register x) {
  if (IsHalf(type)) return ForHalf(type, x);
  const Register number = Cast(x, ComputedType(type));
  return IsNarrowInteger(type) && IsFloatType(x.type)
             ? Between(number, LeastOf(type), GreatestOf(type))
             : number;
}

int64_t LeastOf(ScalarType integer) {
  switch (integer) {
    case ScalarType::kI8:
      return std::numeric_limits<int8_t>::min();
    case ScalarType::kI16:
      return std::numeric_limits<int16_t>::min();
    case ScalarType::kI32:
      return std::numeric_limits<int32_t>::min();
    case ScalarType::kI64:
      return std::numeric_limits<int64_t>::min();
    default:
      return 0;
  }
}

int64_t GreatestOf(ScalarType integer) {
  switch (integer) {
    case ScalarType::kI8:
      return std::numeric_limits<int8_t>::max();
    case ScalarType::kU8:
      return std::numeric_limits<uint8_t>::max();
    case ScalarType::kI16:
      return std::numeric_limits<int16_t>::max();
    case ScalarType::kU16:
      return std::numeric_limits<uint16_t>::max();
    case ScalarType::kI32:
      return std::numeric_limits<int32_t>::max();
    case ScalarType::kU32:
      return std::numeric_limits<uint32_t>::max();
    case ScalarType::kI64:
      return std::numeric_limits<int64_t>::max();
    case ScalarType::kU64:
      return -1;
    default:
      return 1;
  }
}

}  // namespace partita
