// Conversions of the 16-bit float formats.
// SPDX-License-Identifier: Apache-2.0

#include "graph/half.h"

#include <cmath>
#include <cstring>

namespace partita {
namespace {

// Rounds `value` to a binary format with `fraction` fraction bits and the given
// exponent range, to nearest even, and returns its bits. One rounding from
// double: going through float first would round twice.
uint16_t Round(double value, int fraction, int min_exponent, int max_exponent) {
  const int exponent_bits = 15 - fraction;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity = ((1u << exponent_bits) - 1) << fraction;
  if (std::isnan(value)) return sign | infinity | (1u << (fraction - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), min_exponent);
  // In units of the last place; nearbyint rounds half to even.
  const double units =
      std::nearbyint(std::ldexp(magnitude, fraction - exponent));
  uint32_t bits = static_cast<uint32_t>(units);
  // A normal number carries the implicit bit at position `fraction`, which adds
  // one to the exponent field; a subnormal one does not.
  bits += static_cast<uint32_t>(exponent - min_exponent) << fraction;
  const uint32_t limit = static_cast<uint32_t>(max_exponent - min_exponent + 2)
                         << fraction;
  return sign | (bits >= limit ? infinity : static_cast<uint16_t>(bits));
}

}  // namespace

Half::Half(double value) : bits(Round(value, 10, -14, 15)) {}

Half::operator double() const {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 0x1f) return fraction ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 0x400, exponent - 25);
}

BFloat16::BFloat16(double value) : bits(Round(value, 7, -126, 127)) {}

BFloat16::operator double() const {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

}  // namespace partita
