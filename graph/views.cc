// Reads the moves that an op declares.
// SPDX-License-Identifier: Apache-2.0

#include "graph/views.h"

#include "graph/op_def.h"

namespace partita {
namespace {

bool IsInterval(const ByteMove& move) {
  return move.count == 1 || (move.operand_stride == move.block &&
                             move.result_stride == move.block);
}

std::optional<ViewOf> ViewBy(const OpView& op, const ByteMove& move) {
  const int64_t from = op.operand_type(move.operand).RowMajor().num_bytes();
  const int64_t to = op.result_type(move.result).RowMajor().num_bytes();
  if (!IsInterval(move) || move.result_offset != 0 ||
      move.block * move.count != to ||
      move.operand_offset % kViewAlignment != 0) {
    return std::nullopt;
  }
  return ViewOf{move.operand, move.operand_offset, to == from};
}

}  // namespace

std::optional<std::vector<ViewOf>> ViewsOf(const OpView& op) {
  if (op.op().moves == nullptr || op.op().traits.placed_only) {
    return std::nullopt;
  }
  const std::optional<std::vector<ByteMove>> moves = op.op().moves(op);
  // Each result is filled by one move, or it is more than one interval.
  if (!moves.has_value() ||
      static_cast<int>(moves->size()) != op.num_results()) {
    return std::nullopt;
  }
  std::vector<std::optional<ViewOf>> found(op.num_results());
  for (const ByteMove& move : *moves) {
    found[move.result] = ViewBy(op, move);
  }
  std::vector<ViewOf> views;
  for (const std::optional<ViewOf>& view : found) {
    if (!view.has_value()) return std::nullopt;
    views.push_back(*view);
  }
  return views;
}

bool IsWholeView(const OpView& op) {
  const std::optional<std::vector<ViewOf>> views = ViewsOf(op);
  return views.has_value() && views->size() == 1 && views->front().is_whole &&
         views->front().operand == 0;
}

}  // namespace partita
