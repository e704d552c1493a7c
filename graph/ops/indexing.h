// Indices that are data: reading them, and how scattered updates join.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_INDEXING_H_
#define PARTITA_GRAPH_OPS_INDEXING_H_

#include <cmath>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/ops/arithmetic.h"

namespace partita {

enum class NegativeIndex : uint8_t { kFromEnd, kOutside };

// The elements of an index operand: element i counts positions of an extent of
// extents[i modulo their number], perhaps from the end if it is negative. An
// index outside is an error, which tells it as it is given.
absl::StatusOr<std::vector<int64_t>> ReadIndices(
    const OpView& op, const HostTensor& indices,
    absl::Span<const int64_t> extents,
    NegativeIndex negative = NegativeIndex::kFromEnd);

// How an update joins what is there: the attribute `reduction`.
enum class Join : uint8_t { kReplace, kAdd, kMul, kMin, kMax };
Join JoinOf(const OpView& op);

// Inference of an op that joins operand 2, of extents `updates` and the type of
// operand 0, into a copy of operand 0.
absl::Status InferJoin(const OpView& op, absl::Span<const int64_t> updates,
                       Types& results);
// Begins the eval of such an op.
void CopyBytes(const HostTensor& from, HostTensor& to);

template <typename T>
T Joined(Join join, T old, T update) {
  using W = Wide<T>;
  using E = Exact<T>;
  const E a = static_cast<E>(old);
  const E b = static_cast<E>(update);
  switch (join) {
    case Join::kReplace:
      return update;
    case Join::kAdd:
      return Narrow<T>(static_cast<W>(old) + static_cast<W>(update));
    case Join::kMul:
      return Narrow<T>(static_cast<W>(old) * static_cast<W>(update));
    case Join::kMin:  // A NaN on either side is the result.
      return a < b || a != a ? old : update;
    case Join::kMax:
      return a > b || a != a ? old : update;
  }
  return update;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_INDEXING_H_
