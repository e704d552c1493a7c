// Integers of the host, which wrap, and predicates.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/integers.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/strings/strip.h"
#include "testing/emulated_gpu/ptx/comparisons.h"
#include "testing/emulated_gpu/ptx/evaluate_table.h"
#include "testing/emulated_gpu/ptx/integer_types.h"
#include "testing/emulated_gpu/ptx/register_bits.h"

namespace partita::ptx {
namespace {

// Integers wrap. T is the type of the instruction; the bits above it are zero.

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
  // Toward zero. By zero the result is not specified (PTX ISA, div and rem):
  // all bits, and the dividend. The least integer by -1 wraps.
  static uint64_t Div(NanRules, uint64_t a, uint64_t b, uint64_t) {
    if (b == 0) return static_cast<U>(~uint64_t{0});
    return Out(Wide{As<T>(a)} / Wide{As<T>(b)});
  }
  static uint64_t Rem(NanRules, uint64_t a, uint64_t b, uint64_t) {
    return b == 0 ? a : Out(Wide{As<T>(a)} % Wide{As<T>(b)});
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
    static constexpr NamedEvaluate kRows[] = {
        {"add", Add},          {"sub", Sub},
        {"mul.lo", MulLow},    {"mul.hi", MulHigh},
        {"mul.wide", MulWide}, {"mad.lo", Mad},
        {"div", Div},          {"rem", Rem},
        {"neg", Neg},          {"abs", Abs},
        {"min", Min},          {"max", Max},
        {"and", And},          {"or", Or},
        {"xor", Xor},          {"not", Not},
        {"shl", ShiftLeft},    {"shr", ShiftRight},
        {"bfe", BitField},
    };
    return FindByName(kRows, operation);
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

  static Evaluate Find(absl::string_view operation) {
    static constexpr NamedEvaluate kRows[] = {
        {"and", And}, {"or", Or}, {"xor", Xor}, {"not", Not}};
    return FindByName(kRows, operation);
  }
};

}  // namespace

Evaluate FindOnIntegers(absl::string_view operation, Type type) {
  if (type == Type::kPred) return Predicates::Find(operation);
  const bool is_comparison = absl::ConsumePrefix(&operation, "setp.");
  return VisitInteger(type, [&](auto tag) -> Evaluate {
    using T = typename decltype(tag)::type;
    return is_comparison ? FindComparison<T>(operation)
                         : Integers<T>::Find(operation);
  });
}

}  // namespace partita::ptx
