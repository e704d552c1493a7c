// IEEE 754 on the host's floats, rounded to nearest, and NaN rules.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace partita::ptx {
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

// NaN results.

constexpr uint64_t kQuietF64 = 0x0008000000000000u;
constexpr uint64_t kMadeF64 = 0xfff8000000000000u;  // by an H100, of numbers

template <typename T>
constexpr uint64_t kCanonicalNan = (uint64_t{1} << (8 * sizeof(T) - 1)) - 1;

// The bits of a NaN result, from the operands in the order in which an H100
// prefers them.
template <typename T>
uint64_t NanOf(NanRules nan, std::initializer_list<T> preferred) {
  if (!std::is_same_v<T, double> || nan == NanRules::kCanonical) {
    return kCanonicalNan<T>;
  }
  for (T operand : preferred) {
    if (std::isnan(operand)) return Bits(operand) | kQuietF64;
  }
  return kMadeF64;
}
template <typename T>
uint64_t Result(NanRules nan, T value, std::initializer_list<T> preferred) {
  return std::isnan(value) ? NanOf<T>(nan, preferred) : Bits(value);
}

// Floats. Two NaN operands: sums, products, minima keep the second, quotients
// the first, and fma prefers b, c, a.

template <typename T>
struct Floats {
  static uint64_t Add(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Result<T>(nan, As<T>(a) + As<T>(b), {As<T>(b), As<T>(a)});
  }
  static uint64_t Sub(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Result<T>(nan, As<T>(a) - As<T>(b), {As<T>(b), As<T>(a)});
  }
  static uint64_t Mul(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Result<T>(nan, As<T>(a) * As<T>(b), {As<T>(b), As<T>(a)});
  }
  static uint64_t Div(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Result<T>(nan, As<T>(a) / As<T>(b), {As<T>(a), As<T>(b)});
  }
  static uint64_t Fma(NanRules nan, uint64_t a, uint64_t b, uint64_t c) {
    return Result<T>(nan, std::fma(As<T>(a), As<T>(b), As<T>(c)),
                     {As<T>(b), As<T>(c), As<T>(a)});
  }
  static uint64_t Rcp(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, T{1} / As<T>(a), {As<T>(a)});
  }
  static uint64_t Sqrt(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::sqrt(As<T>(a)), {As<T>(a)});
  }
  static uint64_t Neg(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, -As<T>(a), {As<T>(a)});
  }
  static uint64_t Abs(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::fabs(As<T>(a)), {As<T>(a)});
  }
  static uint64_t Even(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::nearbyint(As<T>(a)), {As<T>(a)});
  }
  static uint64_t Truncate(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::trunc(As<T>(a)), {As<T>(a)});
  }
  static uint64_t Floor(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::floor(As<T>(a)), {As<T>(a)});
  }
  static uint64_t Ceil(NanRules nan, uint64_t a, uint64_t, uint64_t) {
    return Result<T>(nan, std::ceil(As<T>(a)), {As<T>(a)});
  }
  // -0 is less than +0, and a NaN gives the other operand.
  static uint64_t Min(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Extreme(nan, As<T>(a), As<T>(b), /*least=*/true);
  }
  static uint64_t Max(NanRules nan, uint64_t a, uint64_t b, uint64_t) {
    return Extreme(nan, As<T>(a), As<T>(b), /*least=*/false);
  }
  static uint64_t MinNan(NanRules nan, uint64_t a, uint64_t b, uint64_t c) {
    return EitherIsNan(a, b) ? NanOf<T>(nan, {As<T>(b), As<T>(a)})
                             : Min(nan, a, b, c);
  }
  static uint64_t MaxNan(NanRules nan, uint64_t a, uint64_t b, uint64_t c) {
    return EitherIsNan(a, b) ? NanOf<T>(nan, {As<T>(b), As<T>(a)})
                             : Max(nan, a, b, c);
  }
  static bool EitherIsNan(uint64_t a, uint64_t b) {
    return std::isnan(As<T>(a)) || std::isnan(As<T>(b));
  }
  static uint64_t Extreme(NanRules nan, T a, T b, bool least) {
    if (std::isnan(a) && std::isnan(b)) return NanOf<T>(nan, {b, a});
    if (std::isnan(a)) return Bits(b);
    if (std::isnan(b)) return Bits(a);
    if (a == b) return Bits(std::signbit(a) == least ? a : b);
    return Bits((a < b) == least ? a : b);
  }

  static Evaluate Find(absl::string_view operation) {
    struct Row {
      const char* operation;
      Evaluate evaluate;
    };
    static constexpr Row kRows[] = {
        {"add.rn", Add},     {"sub.rn", Sub},   {"mul.rn", Mul},
        {"div.rn", Div},     {"fma.rn", Fma},   {"rcp.rn", Rcp},
        {"sqrt.rn", Sqrt},   {"neg", Neg},      {"abs", Abs},
        {"min", Min},        {"max", Max},      {"min.NaN", MinNan},
        {"max.NaN", MaxNan}, {"cvt.rni", Even}, {"cvt.rzi", Truncate},
        {"cvt.rmi", Floor},  {"cvt.rpi", Ceil},
    };
    for (const Row& row : kRows) {
      if (operation == row.operation) return row.evaluate;
    }
    return nullptr;
  }
};

// Integers wrap. T is the type of the instruction; `Zero` fills above it.

template <typename T>
struct Integers {
  using U = std::make_unsigned_t<T>;
  static constexpr unsigned kBits = 8 * sizeof(T);
  // Twice as wide: products do not wrap.
  using Wide =
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

  static uint64_t Out(Wide value) {
    return static_cast<U>(static_cast<unsigned __int128>(value));
  }
  static uint64_t Add(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return static_cast<U>(a + b);
  }
  static uint64_t Sub(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return static_cast<U>(a - b);
  }
  static uint64_t MulLow(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return static_cast<U>(a * b);
  }
  static uint64_t MulHigh(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return Out((Wide{As<T>(a)} * Wide{As<T>(b)}) >> kBits);
  }
  // The result has twice the bits, at most 64.
  static uint64_t MulWide(NanRules, uint64_t a, uint64_t b, uint64_t) {
    const uint64_t product = static_cast<uint64_t>(
        static_cast<unsigned __int128>(Wide{As<T>(a)} * Wide{As<T>(b)}));
    if constexpr (sizeof(T) < 4) {
      return product & ((uint64_t{1} << (2 * kBits)) - 1);
    } else {
      return product;
    }
  }
  static uint64_t Mad(NanRules, uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<U>(a * b + c);
  }
  static uint64_t Neg(NanRules, uint64_t a, uint64_t, uint64_t) {
    return static_cast<U>(0 - a);
  }
  static uint64_t Abs(NanRules, uint64_t a, uint64_t, uint64_t) {
    return As<T>(a) < 0 ? static_cast<U>(0 - a) : a;
  }
  static uint64_t Min(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return As<T>(a) < As<T>(b) ? a : b;
  }
  static uint64_t Max(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return As<T>(a) > As<T>(b) ? a : b;
  }
  static uint64_t And(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a & b;
  }
  static uint64_t Or(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a | b;
  }
  static uint64_t Xor(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a ^ b;
  }
  static uint64_t Not(NanRules, uint64_t a, uint64_t, uint64_t) {
    return static_cast<U>(~a);
  }
  // Shifts by more than the width act as by the width.
  static uint64_t ShiftLeft(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return b >= kBits ? 0 : static_cast<U>(a << b);
  }
  static uint64_t ShiftRight(NanRules, uint64_t a, uint64_t b, uint64_t) {
    const T value = As<T>(a);
    if (b < kBits) return static_cast<U>(static_cast<T>(value >> b));
    return value < 0 ? static_cast<U>(-1) : 0;
  }
  // `length` bits from bit `position` on; a signed type fills with the last of
  // them, or with the sign if they reach beyond it. PTX ISA, bfe.
  static uint64_t BitField(NanRules, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t position = b & 0xff;
    const uint64_t length = c & 0xff;
    if (length == 0) return 0;
    const uint64_t last = std::min<uint64_t>(position + length - 1, kBits - 1);
    const bool fill = std::is_signed_v<T> && (a >> last & 1) != 0;
    U field = 0;
    for (uint64_t i = 0; i < kBits; ++i) {
      const bool inside = i < length && position + i < kBits;
      const bool bit = inside ? (a >> (position + i) & 1) != 0 : fill;
      field |= static_cast<U>(U{bit} << i);
    }
    return field;
  }

  static Evaluate Find(absl::string_view operation) {
    struct Row {
      const char* operation;
      Evaluate evaluate;
    };
    static constexpr Row kRows[] = {
        {"add", Add},        {"sub", Sub},          {"mul.lo", MulLow},
        {"mul.hi", MulHigh}, {"mul.wide", MulWide}, {"mad.lo", Mad},
        {"neg", Neg},        {"abs", Abs},          {"min", Min},
        {"max", Max},        {"and", And},          {"or", Or},
        {"xor", Xor},        {"not", Not},          {"shl", ShiftLeft},
        {"shr", ShiftRight}, {"bfe", BitField},
    };
    for (const Row& row : kRows) {
      if (operation == row.operation) return row.evaluate;
    }
    return nullptr;
  }
};

struct Predicates {
  static uint64_t And(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a & b;
  }
  static uint64_t Or(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a | b;
  }
  static uint64_t Xor(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return a ^ b;
  }
  static uint64_t Not(NanRules, uint64_t a, uint64_t, uint64_t) {
    return a ^ 1;
  }
};

uint64_t Copy(NanRules, uint64_t a, uint64_t, uint64_t) { return a; }

// Comparisons. The forms with u are also true if an operand is NaN.

enum class Relation : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

template <Relation relation, typename T>
bool Holds(T a, T b) {
  switch (relation) {
    case Relation::kEq:
      return a == b;
    case Relation::kNe:
      return a < b || a > b;  // false for NaN
    case Relation::kLt:
      return a < b;
    case Relation::kLe:
      return a <= b;
    case Relation::kGt:
      return a > b;
    case Relation::kGe:
      return a >= b;
    case Relation::kNum:
    case Relation::kNan:
      break;
  }
  return relation == Relation::kNum;
}

template <typename T, Relation relation, bool of_nan>
uint64_t Compare(NanRules, uint64_t a, uint64_t b, uint64_t) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(As<T>(a)) || std::isnan(As<T>(b))) return of_nan;
  }
  return Holds<relation>(As<T>(a), As<T>(b));
}

template <typename T>
Evaluate FindComparison(absl::string_view name) {
  using R = Relation;
  struct Row {
    const char* name;
    Evaluate evaluate;
  };
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr Row kRows[] = {
        {"eq", Compare<T, R::kEq, false>},   {"equ", Compare<T, R::kEq, true>},
        {"ne", Compare<T, R::kNe, false>},   {"neu", Compare<T, R::kNe, true>},
        {"lt", Compare<T, R::kLt, false>},   {"ltu", Compare<T, R::kLt, true>},
        {"le", Compare<T, R::kLe, false>},   {"leu", Compare<T, R::kLe, true>},
        {"gt", Compare<T, R::kGt, false>},   {"gtu", Compare<T, R::kGt, true>},
        {"ge", Compare<T, R::kGe, false>},   {"geu", Compare<T, R::kGe, true>},
        {"num", Compare<T, R::kNum, false>}, {"nan", Compare<T, R::kNan, true>},
    };
    for (const Row& row : kRows) {
      if (name == row.name) return row.evaluate;
    }
  } else {
    static constexpr Row kRows[] = {
        {"eq", Compare<T, R::kEq, false>}, {"ne", Compare<T, R::kNe, false>},
        {"lt", Compare<T, R::kLt, false>}, {"le", Compare<T, R::kLe, false>},
        {"gt", Compare<T, R::kGt, false>}, {"ge", Compare<T, R::kGe, false>},
        {"lo", Compare<T, R::kLt, false>}, {"ls", Compare<T, R::kLe, false>},
        {"hi", Compare<T, R::kGt, false>}, {"hs", Compare<T, R::kGe, false>},
    };
    for (const Row& row : kRows) {
      if (name == row.name) return row.evaluate;
    }
  }
  return nullptr;
}

// Conversions.

template <typename To, typename From>
uint64_t Extend(NanRules, uint64_t a, uint64_t, uint64_t) {
  return Bits(static_cast<To>(As<From>(a)));
}

// Out of range gives the bound. NaN gives 0 from f32 to 32 bits, else the
// highest bit alone.
template <typename To, typename From>
uint64_t Saturate(NanRules, uint64_t a, uint64_t, uint64_t) {
  using Limits = std::numeric_limits<To>;
  constexpr bool kIsWide = std::is_same_v<From, double> || sizeof(To) == 8;
  const From value = As<From>(a);
  if (std::isnan(value)) {
    return kIsWide ? uint64_t{1} << (8 * sizeof(To) - 1) : 0;
  }
  // Both are exact: the upper one is just out of range.
  const From low = static_cast<From>(Limits::min());
  const From high = std::ldexp(From{1}, Limits::digits);
  if (value <= low) return Bits(Limits::min());
  if (value >= high) return Bits(Limits::max());
  return Bits(static_cast<To>(value));
}

uint64_t F32FromF64(NanRules nan, uint64_t a, uint64_t, uint64_t) {
  if (!std::isnan(As<double>(a)))
    return Bits(static_cast<float>(As<double>(a)));
  if (nan == NanRules::kCanonical) return kCanonicalNan<float>;
  return (a >> 32 & 0x80000000u) | 0x7fc00000u | (a >> 29 & 0x3fffffu);
}
uint64_t F64FromF32(NanRules nan, uint64_t a, uint64_t, uint64_t) {
  if (!std::isnan(As<float>(a))) return Bits(static_cast<double>(As<float>(a)));
  if (nan == NanRules::kCanonical) return kCanonicalNan<double>;
  return (a & 0x80000000u) << 32 | 0x7ff8000000000000u | (a & 0x7fffffu) << 29;
}
uint64_t F16FromF32(NanRules, uint64_t a, uint64_t, uint64_t) {
  if (std::isnan(As<float>(a))) return kCanonicalNan<uint16_t>;
  return Bits(static_cast<_Float16>(As<float>(a)));
}
uint64_t F16FromF64(NanRules nan, uint64_t a, uint64_t, uint64_t) {
  if (!std::isnan(As<double>(a))) {
    return Bits(static_cast<_Float16>(As<double>(a)));
  }
  if (nan == NanRules::kCanonical) return kCanonicalNan<uint16_t>;
  return (a >> 48 & 0x8000u) | 0x7e00u | (a >> 42 & 0x1ffu);
}
uint64_t F32FromF16(NanRules, uint64_t a, uint64_t, uint64_t) {
  if ((a & 0x7fff) > 0x7c00) return kCanonicalNan<float>;
  return Bits(static_cast<float>(As<_Float16>(a)));
}
uint64_t BF16FromF32(NanRules, uint64_t a, uint64_t, uint64_t) {
  if (std::isnan(As<float>(a))) return kCanonicalNan<uint16_t>;
  return (a + 0x7fff + (a >> 16 & 1)) >> 16;
}
uint64_t F32FromBF16(NanRules nan, uint64_t a, uint64_t, uint64_t) {
  const bool is_nan = (a & 0x7fff) > 0x7f80;
  if (is_nan && nan == NanRules::kCanonical) return kCanonicalNan<float>;
  return a << 16;
}

template <typename Visitor>
Evaluate VisitInteger(Type type, Visitor&& visit) {
  switch (type) {
    case Type::kS8:
      return visit(Tag<int8_t>{});
    case Type::kS16:
      return visit(Tag<int16_t>{});
    case Type::kS32:
      return visit(Tag<int32_t>{});
    case Type::kS64:
      return visit(Tag<int64_t>{});
    case Type::kB8:
    case Type::kU8:
      return visit(Tag<uint8_t>{});
    case Type::kB16:
    case Type::kU16:
      return visit(Tag<uint16_t>{});
    case Type::kB32:
    case Type::kU32:
      return visit(Tag<uint32_t>{});
    case Type::kB64:
    case Type::kU64:
      return visit(Tag<uint64_t>{});
    default:
      return nullptr;
  }
}

template <typename From>
Evaluate FindToInteger(Type to) {
  return VisitInteger(to, [](auto tag) -> Evaluate {
    using To = typename decltype(tag)::type;
    if constexpr (sizeof(To) >= 4) return Saturate<To, From>;
    return nullptr;
  });
}

Evaluate FindFromInteger(absl::string_view operation, Type to, Type from) {
  return VisitInteger(from, [&](auto tag) -> Evaluate {
    using From = typename decltype(tag)::type;
    if (operation == "cvt.rn") {
      if (to == Type::kF32) return Extend<float, From>;
      if (to == Type::kF64) return Extend<double, From>;
      return nullptr;
    }
    if (operation != "cvt") return nullptr;
    return VisitInteger(to, [](auto to_tag) -> Evaluate {
      return Extend<typename decltype(to_tag)::type, From>;
    });
  });
}

Evaluate FindConversion(absl::string_view operation, Type to, Type from) {
  struct Row {
    const char* operation;
    Type to, from;
    Evaluate evaluate;
  };
  static constexpr Row kRows[] = {
      {"cvt.rn", Type::kF32, Type::kF64, F32FromF64},
      {"cvt", Type::kF64, Type::kF32, F64FromF32},
      {"cvt.rn", Type::kF16, Type::kF32, F16FromF32},
      {"cvt.rn", Type::kF16, Type::kF64, F16FromF64},
      {"cvt", Type::kF32, Type::kF16, F32FromF16},
      {"cvt.rn", Type::kBF16, Type::kF32, BF16FromF32},
      {"cvt", Type::kF32, Type::kBF16, F32FromBF16},
  };
  for (const Row& row : kRows) {
    if (operation == row.operation && to == row.to && from == row.from) {
      return row.evaluate;
    }
  }
  if (!IsFloat(from)) return FindFromInteger(operation, to, from);
  if (to == from && from == Type::kF32) return Floats<float>::Find(operation);
  if (to == from && from == Type::kF64) return Floats<double>::Find(operation);
  if (IsFloat(to) || operation != "cvt.rzi") return nullptr;
  if (from == Type::kF32) return FindToInteger<float>(to);
  return from == Type::kF64 ? FindToInteger<double>(to) : nullptr;
}

Evaluate FindOnPredicates(absl::string_view operation) {
  if (operation == "and") return Predicates::And;
  if (operation == "or") return Predicates::Or;
  if (operation == "xor") return Predicates::Xor;
  return operation == "not" ? Predicates::Not : nullptr;
}

}  // namespace

Evaluate FindEvaluate(absl::string_view operation, Type type, Type from) {
  constexpr absl::string_view kSetp = "setp.";
  if (operation == "mov" || operation == "cvta.to.global") return Copy;
  if (operation.substr(0, 3) == "cvt") {
    return FindConversion(operation, type, from);
  }
  const bool is_comparison = operation.substr(0, kSetp.size()) == kSetp;
  if (is_comparison) operation.remove_prefix(kSetp.size());
  if (type == Type::kPred) return FindOnPredicates(operation);
  if (type == Type::kF32) {
    return is_comparison ? FindComparison<float>(operation)
                         : Floats<float>::Find(operation);
  }
  if (type == Type::kF64) {
    return is_comparison ? FindComparison<double>(operation)
                         : Floats<double>::Find(operation);
  }
  return VisitInteger(type, [&](auto tag) -> Evaluate {
    using T = typename decltype(tag)::type;
    return is_comparison ? FindComparison<T>(operation)
                         : Integers<T>::Find(operation);
  });
}

}  // namespace partita::ptx
