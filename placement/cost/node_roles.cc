// Tells stored values and views from nodes that compute.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/node_roles.h"

#include "graph/core_ops.h"

namespace partita {

bool IsStored(const OpView& node) {
  return node.is(kConstant) || node.is(kVariable);
}

bool IsView(const OpView& node) {
  if (node.op().moves == nullptr || node.op().traits.placed_only) return false;
  if (node.num_operands() == 0) return false;
  const std::optional<std::vector<ByteMove>> moves = node.op().moves(node);
  if (!moves.has_value()) return false;
  // Each result is one stretch of operand 0.
  if (static_cast<int>(moves->size()) != node.num_results()) return false;
  for (const ByteMove& move : *moves) {
    if (move.operand != 0 || move.count != 1 || move.result_offset != 0) {
      return false;
    }
    if (move.block != node.result_type(move.result).num_bytes()) return false;
  }
  return true;
}

}  // namespace partita
