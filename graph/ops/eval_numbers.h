// The number types of evals: doubles for floats, wrapping 64-bit integers, and
// the conversion back (that of doubles is in graph/number.h).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_EVAL_NUMBERS_H_
#define PARTITA_GRAPH_OPS_EVAL_NUMBERS_H_

#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph/dtype.h"
#include "graph/host_tensor.h"
#include "graph/number.h"

namespace partita {

// For sums and products: a result modulo 2^64 is correct modulo every smaller
// width.
template <typename T>
using Wide = std::conditional_t<kIsFloat<T>, double, uint64_t>;

// For comparisons and quotients: the value itself.
template <typename T>
using Exact = std::conditional_t<
    kIsFloat<T>, double,
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// Wraps to a smaller integer.
template <typename T>
T Narrow(uint64_t value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  return static_cast<T>(value);
}
template <typename T>
T Narrow(int64_t value) {
  if constexpr (std::is_same_v<T, bool>) return value != 0;
  return static_cast<T>(value);
}

template <typename T>
std::vector<Wide<T>> WidenAll(const HostTensor& tensor) {
  const absl::Span<const T> data = tensor.data<T>();
  std::vector<Wide<T>> wide(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    wide[i] = static_cast<Wide<T>>(data[i]);
  }
  return wide;
}

// The elements as doubles, for any type.
std::vector<double> ToDoubles(const HostTensor& tensor);
// Stores the numbers in `tensor`, each rounded once. It has as many elements.
void FromDoubles(const std::vector<double>& values, HostTensor& tensor);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_EVAL_NUMBERS_H_
