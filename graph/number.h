// A number that can become an element of any type; exact until then.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_NUMBER_H_
#define PARTITA_GRAPH_NUMBER_H_

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "graph/half.h"

namespace partita {

template <typename T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> ||
    std::is_same_v<T, BFloat16>;

// To a float: rounds once. To an integer: truncates toward zero and clamps (a
// NaN becomes 0). To bool: true unless zero.
template <typename T>
T Narrow(double value) {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else {
    using Limits = std::numeric_limits<T>;
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(Limits::min())) return Limits::min();
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
    return static_cast<T>(value);
  }
}

// A signed or unsigned 64-bit integer, or a double; a double cannot represent
// all integers beyond 2^53. Equal numbers compare equal however they were made.
// Exceptions: -0.0 is not 0, as float elements differ, and a NaN equals the NaN
// with the same bits.
class Number {
 public:
  using Held = std::variant<int64_t, uint64_t, double>;

  constexpr Number() = default;  // 0
  template <std::integral T>
  explicit constexpr Number(T value) {
    if (std::in_range<int64_t>(value)) {
      held_ = static_cast<int64_t>(value);
    } else {
      held_ = static_cast<uint64_t>(value);
    }
  }
  explicit Number(double value);

  // Stores an int64_t if the value fits, or else a uint64_t if it fits.
  const Held& held() const { return held_; }
  bool is_integer() const { return !std::holds_alternative<double>(held_); }
  double ToDouble() const;
  // The integer modulo 2^64; a double is narrowed to an integer first.
  uint64_t ToWrapped() const;
  // As an element of type T: as Narrow, but exact for integers.
  template <typename T>
  T To() const;

  friend bool operator==(const Number& a, const Number& b);

 private:
  Held held_ = int64_t{0};
};

template <typename T>
T Number::To() const {
  return std::visit(
      [](auto held) -> T {
        constexpr bool is_double = std::is_same_v<decltype(held), double>;
        if constexpr (kIsFloat<T> || is_double) {
          return Narrow<T>(static_cast<double>(held));
        } else if constexpr (std::is_same_v<T, bool>) {
          return held != 0;
        } else {
          using Limits = std::numeric_limits<T>;
          if (std::cmp_less(held, Limits::min())) return Limits::min();
          if (std::cmp_greater(held, Limits::max())) return Limits::max();
          return static_cast<T>(held);
        }
      },
      held_);
}

}  // namespace partita

#endif  // PARTITA_GRAPH_NUMBER_H_
