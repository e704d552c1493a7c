// IEEE 754 on the host's floats, rounded to nearest, and NaN rules.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/floats.h"

#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "absl/strings/strip.h"
#include "testing/emulated_gpu/ptx/comparisons.h"
#include "testing/emulated_gpu/ptx/evaluate_table.h"
#include "testing/emulated_gpu/ptx/register_bits.h"

namespace partita::ptx {
namespace {

// NaN results.

constexpr uint64_t kQuietF64 = 0x0008000000000000u;
constexpr uint64_t kMadeF64 = 0xfff8000000000000u;  // by an H100, of numbers

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
    static constexpr NamedEvaluate kRows[] = {
        {"add.rn", Add},     {"sub.rn", Sub},   {"mul.rn", Mul},
        {"div.rn", Div},     {"fma.rn", Fma},   {"rcp.rn", Rcp},
        {"sqrt.rn", Sqrt},   {"neg", Neg},      {"abs", Abs},
        {"min", Min},        {"max", Max},      {"min.NaN", MinNan},
        {"max.NaN", MaxNan}, {"cvt.rni", Even}, {"cvt.rzi", Truncate},
        {"cvt.rmi", Floor},  {"cvt.rpi", Ceil},
    };
    return FindByName(kRows, operation);
  }
};

template <typename T>
Evaluate Find(absl::string_view operation) {
  return absl::ConsumePrefix(&operation, "setp.") ? FindComparison<T>(operation)
                                                  : Floats<T>::Find(operation);
}

}  // namespace

Evaluate FindOnFloats(absl::string_view operation, Type type) {
  if (type == Type::kF32) return Find<float>(operation);
  return type == Type::kF64 ? Find<double>(operation) : nullptr;
}

}  // namespace partita::ptx
