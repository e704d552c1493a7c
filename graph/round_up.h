// Multiples.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ROUND_UP_H_
#define PARTITA_GRAPH_ROUND_UP_H_

#include <type_traits>

namespace partita {

// The least multiple of `unit` that is not below `value`. Integers, `value` at
// least 0 and `unit` above 0; the result must not overflow.
template <typename T>
constexpr T RoundUp(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_ROUND_UP_H_
