// The two 16-bit float formats, as storage types that convert exactly to
// double and round once, to nearest even, from it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_HALF_H_
#define PARTITA_GRAPH_HALF_H_

#include <cstdint>

namespace partita {

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
struct Half {
  Half() = default;
  Half(double value);  // NOLINT: as implicit as float's own conversion.
  operator double() const;
  uint16_t bits = 0;
};

// The upper half of a binary32: 1 sign, 8 exponent and 7 fraction bits.
struct BFloat16 {
  BFloat16() = default;
  BFloat16(double value);  // NOLINT
  operator double() const;
  uint16_t bits = 0;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_HALF_H_
