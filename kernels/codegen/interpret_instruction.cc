// A switch over opcodes and types.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/interpret_instruction.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "graph/half.h"

namespace partita {
namespace {

template <typename T>
T As(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename T>
uint64_t Bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename T>
struct Tag {
  using type = T;
};

template <typename Visitor>
auto VisitScalar(ScalarType type, Visitor&& visit) {
  switch (type) {
    case ScalarType::kF32:
      return visit(Tag<float>{});
    case ScalarType::kF64:
      return visit(Tag<double>{});
    case ScalarType::kI32:
      return visit(Tag<int32_t>{});
    case ScalarType::kI64:
      return visit(Tag<int64_t>{});
    case ScalarType::kU32:
      return visit(Tag<uint32_t>{});
    case ScalarType::kU64:
      return visit(Tag<uint64_t>{});
    case ScalarType::kBF16:
    case ScalarType::kF16:
    case ScalarType::kI16:
      return visit(Tag<int16_t>{});
    case ScalarType::kU16:
      return visit(Tag<uint16_t>{});
    case ScalarType::kI8:
      return visit(Tag<int8_t>{});
    case ScalarType::kU8:
      return visit(Tag<uint8_t>{});
    case ScalarType::kBool:
      break;
  }
  return visit(Tag<bool>{});
}

template <typename T>
T FloatResult(Opcode op, T a, T b, T c) {
  switch (op) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSub:
      return a - b;
    case Opcode::kMul:
      return a * b;
    case Opcode::kDiv:
      return a / b;
    case Opcode::kFma:
      return std::fma(a, b, c);
    case Opcode::kNeg:
      return -a;
    case Opcode::kAbs:
      return std::fabs(a);
    case Opcode::kSqrt:
      return std::sqrt(a);
    case Opcode::kFloor:
      return std::floor(a);
    case Opcode::kCeil:
      return std::ceil(a);
    default:
      return std::nearbyint(a);
  }
}

// Wraps: computed as unsigned.
template <typename T>
T IntegerResult(const Instruction& i, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U ua = static_cast<U>(a);
  const U ub = static_cast<U>(b);
  const U operand = i.b < 0 ? static_cast<U>(i.bits) : ub;
  switch (i.op) {
    case Opcode::kAdd:
      return static_cast<T>(ua + ub);
    case Opcode::kSub:
      return static_cast<T>(ua - ub);
    case Opcode::kMul:
      return static_cast<T>(ua * ub);
    case Opcode::kNeg:
      return static_cast<T>(U{0} - ua);
    case Opcode::kAbs:
      return std::is_signed_v<T> && a < T{0} ? static_cast<T>(U{0} - ua) : a;
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    case Opcode::kXor:
      return a ^ b;
    case Opcode::kShiftLeft:
      return static_cast<T>(ua << operand);
    case Opcode::kQuotient:
      return static_cast<T>(i.b < 0 ? ua / operand : a / b);
    case Opcode::kRemainder:
      return static_cast<T>(i.b < 0 ? ua % operand : a % b);
    default:
      return static_cast<T>(a >> operand);
  }
}

bool BoolResult(Opcode op, bool a, bool b) {
  if (op == Opcode::kAnd) return a && b;
  return op == Opcode::kOr ? a || b : a != b;
}

template <typename T>
bool Compare(Opcode op, T a, T b) {
  switch (op) {
    case Opcode::kLess:
      return a < b;
    case Opcode::kLessEqual:
      return a <= b;
    case Opcode::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

template <typename To, typename From>
To CastTo(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> &&
                       std::is_floating_point_v<From>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<From>(Limits::min())) return Limits::min();
    if (value >= static_cast<From>(Limits::max())) return Limits::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// A NaN becomes quiet and keeps the upper bits of its payload, as in
// processors.
uint64_t WidenF16(uint64_t bits) {
  Half half;
  half.bits = static_cast<uint16_t>(bits);
  const double value = half;
  if (!std::isnan(value)) return Bits(static_cast<float>(value));
  const uint32_t sign = (half.bits & 0x8000u) << 16;
  return sign | 0x7fc00000u | (half.bits & 0x3ffu) << 13;
}
uint64_t NarrowToF16(uint64_t bits) {
  const float value = As<float>(bits);
  if (!std::isnan(value)) return Half(value).bits;
  return (bits >> 16 & 0x8000u) | 0x7e00u | (bits >> 13 & 0x3ffu);
}

}  // namespace

uint64_t ComputeInstruction(const Instruction& i, ScalarType from, uint64_t a,
                            uint64_t b, uint64_t c) {
  switch (i.op) {
    case Opcode::kConstant:
      return i.bits;
    case Opcode::kSelect:
      return (a & 1) != 0 ? b : c;
    case Opcode::kBitcast:
      return a;
    case Opcode::kCast:
      if (from == ScalarType::kF16 && i.type == ScalarType::kF32) {
        return WidenF16(a);
      }
      if (from == ScalarType::kF32 && i.type == ScalarType::kF16) {
        return NarrowToF16(a);
      }
      return VisitScalar(from, [&](auto f) {
        return VisitScalar(i.type, [&](auto t) {
          using From = typename decltype(f)::type;
          using To = typename decltype(t)::type;
          return Bits(CastTo<To>(As<From>(a)));
        });
      });
    default:
      break;
  }
  return VisitScalar(from, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (IsComparison(i.op)) return Bits(Compare(i.op, As<T>(a), As<T>(b)));
    if constexpr (std::is_floating_point_v<T>) {
      return Bits(FloatResult(i.op, As<T>(a), As<T>(b), As<T>(c)));
    } else if constexpr (std::is_same_v<T, bool>) {
      return Bits(BoolResult(i.op, As<T>(a), As<T>(b)));
    } else {
      return Bits(IntegerResult(i, As<T>(a), As<T>(b)));
    }
  });
}

}  // namespace partita
