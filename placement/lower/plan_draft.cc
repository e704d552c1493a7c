// Look-ups in a plan in the making.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/plan_draft.h"

#include <algorithm>

#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {

int64_t AlignUp(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool DoTogether(const Task& a, const Task& b) {
  return a.kind == Command::Kind::kCollective && b.kind == a.kind &&
         a.instance.node == b.instance.node &&
         a.instance.micro_batch == b.instance.micro_batch;
}

const Placement& PlanDraft::PlacementOf(ValueId id) const {
  const Value& value = graph->value(id);
  return value.defining_node.valid()
             ? graph->node(value.defining_node).placement
             : graph->input_placement(value.index);
}

int PlanDraft::SumAfter(ValueId sum, int member, int micro_batch) const {
  const int members = static_cast<int>(PlacementOf(sum).devices.size());
  return first_piece[sum.index] + micro_batch * members + member;
}

int PlanDraft::PieceOf(ValueId value, int member, int micro_batch) const {
  const NodeId maker = graph->value(value).defining_node;
  if (maker.valid() && graph->view(maker).is(kAccumulate)) {
    return SumAfter(value, member, micro_batches.count - 1);
  }
  return SumAfter(value, member, varies[value.index] ? micro_batch : 0);
}

int PlanDraft::PieceOn(ValueId value, int device, int micro_batch) const {
  if (first_piece[value.index] < 0) return -1;
  const int members = static_cast<int>(PlacementOf(value).devices.size());
  for (int member = 0; member < members; ++member) {
    const int piece = PieceOf(value, member, micro_batch);
    if (pieces[piece].device == device) return piece;
  }
  return -1;
}

int PlanDraft::AddStorage(int device, int64_t bytes) {
  storages.push_back({.device = device, .bytes = bytes});
  return static_cast<int>(storages.size()) - 1;
}

int PlanDraft::StreamOf(StreamKey key) {
  const auto it = std::find(streams.begin(), streams.end(), key);
  if (it != streams.end()) return static_cast<int>(it - streams.begin());
  streams.push_back(key);
  return static_cast<int>(streams.size()) - 1;
}

Touch PlanDraft::Whole(int piece) const {
  return {piece, {.offset = 0, .block = pieces[piece].bytes}};
}

Extent ExtentOf(const PlanDraft& draft, const Touch& touch) {
  const Piece& piece = draft.pieces[touch.piece];
  const int64_t begin = piece.offset + touch.range.offset;
  return {piece.storage, begin,
          touch.range.empty() ? begin : piece.offset + touch.range.end()};
}

}  // namespace partita
