// Index operands: how to read them, and how scattered updates are reduced.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_INDEXING_H_
#define PARTITA_GRAPH_OPS_INDEXING_H_

#include <cmath>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_def.h"
#include "graph/ops/eval_numbers.h"

namespace partita {

enum class NegativeIndex : uint8_t { kFromEnd, kOutside };

// The elements of an index operand. Element i is a position in an extent of
// extents[i modulo their number]; with `from_end` a negative one counts from
// the end. An index out of range is an error that names it as given.
absl::StatusOr<std::vector<int64_t>> ReadIndices(
    const OpView& op, const HostTensor& indices,
    absl::Span<const int64_t> extents,
    NegativeIndex negative = NegativeIndex::kFromEnd);

// How an update is combined with the element in place: the attribute
// `reduction`.
enum class ScatterReduction : uint8_t { kReplace, kAdd, kMul, kMin, kMax };
ScatterReduction ScatterReductionOf(const OpView& op);

// Inference of an op that reduces operand 2, with extents `updates` and the
// type of operand 0, into a copy of operand 0.
absl::Status InferUpdates(const OpView& op, absl::Span<const int64_t> updates,
                          Types& results);
// Begins the eval of such an op.
void CopyBytes(const HostTensor& from, HostTensor& to);

template <typename T>
T Combined(ScatterReduction reduction, T old, T update) {
  using W = Wide<T>;
  using E = Exact<T>;
  const E a = static_cast<E>(old);
  const E b = static_cast<E>(update);
  switch (reduction) {
    case ScatterReduction::kReplace:
      return update;
    case ScatterReduction::kAdd:
      return Narrow<T>(static_cast<W>(old) + static_cast<W>(update));
    case ScatterReduction::kMul:
      return Narrow<T>(static_cast<W>(old) * static_cast<W>(update));
    case ScatterReduction::kMin:  // A NaN on either side is the result.
      return a < b || a != a ? old : update;
    case ScatterReduction::kMax:
      return a > b || a != a ? old : update;
  }
  return update;
}

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_INDEXING_H_
