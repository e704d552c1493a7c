// Ops that only move bytes: one description for eval and moves.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OPS_BYTE_MOVES_H_
#define PARTITA_GRAPH_OPS_BYTE_MOVES_H_

#include <optional>
#include <vector>

#include "graph/op_def.h"

namespace partita {

// For every position p of `dims`: the element at from_offset + p * from_strides
// of `operand` goes to to_offset + p * to_strides of `result`. All in elements.
struct StridedMove {
  int operand = 0;
  int result = 0;
  Shape dims;
  int64_t from_offset = 0;
  Shape from_strides;
  int64_t to_offset = 0;
  Shape to_strides;
};

// Drops extents of 1 and merges contiguous dimensions.
void MergeDims(StridedMove& move);

// Runs the moves, in order.
absl::Status DoMoves(absl::Span<const StridedMove> moves,
                     absl::Span<const HostTensor> operands,
                     absl::Span<HostTensor> results);

// The moves as ByteMoves; nullopt if this needs a negative stride, blocks
// smaller than a row, or too many blocks.
std::optional<std::vector<ByteMove>> AsByteMoves(
    const OpView& op, absl::Span<const StridedMove> moves);

// `eval` and `moves` of an op that makes the moves of `moves_of`.
template <std::vector<StridedMove> (*moves_of)(const OpView&)>
absl::Status EvaluateMoves(const OpView& op,
                           absl::Span<const HostTensor> operands,
                           absl::Span<HostTensor> results) {
  return DoMoves(moves_of(op), operands, results);
}
template <std::vector<StridedMove> (*moves_of)(const OpView&)>
std::optional<std::vector<ByteMove>> MovesAsBytes(const OpView& op) {
  return AsByteMoves(op, moves_of(op));
}

// Copies to every position of the result the element of `operand` at the
// indices that `sources` lists for each dimension. Positions with an index of
// -1 are not written.
void CopyByIndex(const HostTensor& operand,
                 const std::vector<std::vector<int64_t>>& sources,
                 HostTensor& result);

// Bytes read and written once, no arithmetic.
Cost MoveCost(const OpView& op);

}  // namespace partita

#endif  // PARTITA_GRAPH_OPS_BYTE_MOVES_H_
