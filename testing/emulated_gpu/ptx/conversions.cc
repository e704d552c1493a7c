// Rounding, saturation and NaN rules of conversions.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/conversions.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "testing/emulated_gpu/ptx/floats.h"
#include "testing/emulated_gpu/ptx/integer_types.h"
#include "testing/emulated_gpu/ptx/register_bits.h"

namespace partita::ptx {
namespace {

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

}  // namespace

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
  if (to == from) return FindOnFloats(operation, to);
  if (IsFloat(to) || operation != "cvt.rzi") return nullptr;
  if (from == Type::kF32) return FindToInteger<float>(to);
  return from == Type::kF64 ? FindToInteger<double>(to) : nullptr;
}

}  // namespace partita::ptx
