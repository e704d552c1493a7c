// Reads the moves that an op declares.
// SPDX-License-Identifier: Apache-2.0

#include "passes/moves_in_order.h"

#include <optional>
#include <vector>

#include "graph/op_def.h"

namespace partita {

bool MovesAllInOrder(const OpView& op) {
  if (op.op().moves == nullptr || op.op().traits.placed_only) return false;
  if (op.num_results() != 1) return false;
  const std::optional<std::vector<ByteMove>> moves = op.op().moves(op);
  if (!moves.has_value() || moves->size() != 1) return false;
  const ByteMove& move = moves->front();
  const int64_t bytes = op.operand_type(0).RowMajor().num_bytes();
  return move.operand == 0 && move.operand_offset == 0 &&
         move.result_offset == 0 && move.count == 1 && move.block == bytes &&
         op.result_type(0).RowMajor().num_bytes() == bytes;
}

}  // namespace partita
