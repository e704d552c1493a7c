// The outer loop of convolutions, which sums results plane by plane.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_PLANES_H_
#define PARTITA_GRAPH_OPS_PLANES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/ops/eval_numbers.h"

namespace partita {

// Computes every plane (n, o) of `result` [n, o, spatial...], in order: the
// optional bias of filter o (operand 2) plus the sums of add(n, o, sums),
// rounded once.
template <typename T, typename Add>
void SumPlanes(absl::Span<const HostTensor> operands, HostTensor& result,
               Add&& add) {
  const Shape& dims = result.type().dims;
  const int64_t size = Product(absl::MakeConstSpan(dims).subspan(2));
  const std::vector<Wide<T>> bias =
      operands.size() > 2 ? WidenAll<T>(operands[2]) : std::vector<Wide<T>>();
  std::vector<Wide<T>> sums;
  T* y = reinterpret_cast<T*>(result.bytes());
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t o = 0; o < dims[1]; ++o, y += size) {
      sums.assign(size, bias.empty() ? Wide<T>(0) : bias[o]);
      add(n, o, sums.data());
      for (int64_t i = 0; i < size; ++i) y[i] = Narrow<T>(sums[i]);
    }
  }
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_PLANES_H_
