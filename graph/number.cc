// One form for each number.
// SPDX-License-Identifier: Apache-2.0

#include "graph/number.h"

#include <bit>

namespace partita {

Number::Number(double value) : held_(value) {
  // The first doubles that are too large for 64-bit integers.
  constexpr double kTwoTo63 = 9223372036854775808.0;
  constexpr double kTwoTo64 = 18446744073709551616.0;
  const bool is_minus_zero = value == 0 && std::signbit(value);
  if (std::trunc(value) != value || is_minus_zero) return;
  if (value >= -kTwoTo63 && value < kTwoTo63) {
    held_ = static_cast<int64_t>(value);
  } else if (value > 0 && value < kTwoTo64) {
    held_ = static_cast<uint64_t>(value);
  }
}

bool operator==(const Number& a, const Number& b) {
  const auto* x = std::get_if<double>(&a.held_);
  const auto* y = std::get_if<double>(&b.held_);
  if (x == nullptr || y == nullptr) return a.held_ == b.held_;
  return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(*y);
}

double Number::ToDouble() const { return To<double>(); }

uint64_t Number::ToWrapped() const {
  if (const auto* value = std::get_if<int64_t>(&held_)) {
    return static_cast<uint64_t>(*value);
  }
  return To<uint64_t>();
}

}  // namespace partita
