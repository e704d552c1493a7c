// Views from what an op says about the bytes that it moves.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/views.h"

#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "placement/lower/pieces.h"
#include "placement/lower/transfers.h"

namespace partita {
namespace {

// An op says how it moves bytes of whole row-major tensors. Pieces of a split
// move in the same way if the whole tensor does not change its order.
bool HoldsForPieces(const PlanDraft& draft, const OpView& op,
                    const ByteMove& move) {
  const int64_t whole = op.operand_type(move.operand).num_bytes();
  if (move.operand_offset == 0 && move.block * move.count == whole) return true;
  const Placement& placement = op.node().placement;
  for (const auto* shardings : {&placement.operands, &placement.results}) {
    for (const Sharding& sharding : *shardings) {
      if (sharding.kind != Sharding::Kind::kReplicated) return false;
    }
  }
  return true;
}

bool IsInterval(const ByteMove& move) {
  return move.count == 1 || (move.operand_stride == move.block &&
                             move.result_stride == move.block);
}

// The pieces on one device must agree in size where the whole value passes.
bool PiecesFit(const PlanDraft& draft, const OpView& op, const ByteMove& move) {
  for (const std::string& name : op.node().placement.devices) {
    const int device = draft.devices->index.at(name);
    const Piece& from =
        draft.pieces[draft.PieceOn(op.operand(move.operand).id(), device, 0)];
    const Piece& to =
        draft.pieces[draft.PieceOn(op.result(move.result).id(), device, 0)];
    if (move.operand_offset + to.bytes > from.bytes) return false;
  }
  return true;
}

bool IsView(const PlanDraft& draft, const OpView& op, const ByteMove& move) {
  const TensorType& from = op.operand_type(move.operand);
  const TensorType& to = op.result_type(move.result);
  return from.layout.is_row_major() && to.layout.is_row_major() &&
         IsInterval(move) && move.result_offset == 0 &&
         move.block * move.count == to.num_bytes() &&
         move.operand_offset % kArenaAlignment == 0 &&
         HoldsForPieces(draft, op, move) && PiecesFit(draft, op, move);
}

}  // namespace

std::optional<std::vector<ViewOf>> FindViews(const PlanDraft& draft,
                                             const OpView& op) {
  if (op.is(kCopy) || op.op().moves == nullptr) return std::nullopt;
  const std::optional<std::vector<ByteMove>> moves = op.op().moves(op);
  if (!moves.has_value() ||
      static_cast<int>(moves->size()) != op.num_results()) {
    return std::nullopt;
  }
  std::vector<ViewOf> views(op.num_results(), ViewOf{-1, 0});
  for (const ByteMove& move : *moves) {
    if (!IsView(draft, op, move)) return std::nullopt;
    views[move.result] = {move.operand, move.operand_offset};
  }
  for (const ViewOf& view : views) {
    if (view.operand < 0) return std::nullopt;
  }
  return views;
}

std::optional<int64_t> OffsetInside(const PlanDraft& draft, const Piece& part,
                                    const Piece& whole) {
  if (!part.type.layout.is_row_major() || !whole.type.layout.is_row_major()) {
    return std::nullopt;
  }
  const Box box = BoxOf(draft, part);
  const Box around = BoxOf(draft, whole);
  for (size_t i = 0; i < box.begin.size(); ++i) {
    if (box.begin[i] < around.begin[i] || box.end[i] > around.end[i]) {
      return std::nullopt;
    }
  }
  const auto pairs = TransfersBetween(around, box, BitsOf(part.type.dtype) / 8);
  if (!pairs.ok() || pairs->size() != 1 || (*pairs)[0].from.count != 1 ||
      (*pairs)[0].from.offset % kArenaAlignment != 0) {
    return std::nullopt;
  }
  return (*pairs)[0].from.offset;
}

}  // namespace partita
