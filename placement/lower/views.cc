// Derives views from the byte moves that an op declares.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/views.h"

#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "placement/lower/shards.h"
#include "placement/lower/transfers.h"

namespace partita {
namespace {

// The rule is for whole values. It holds for their shards where the node is not
// sharded, and where a result has all bytes of the operand.
bool HoldsForShards(const OpView& op, const ViewOf& view) {
  if (view.is_whole) return true;
  const Placement& placement = op.node().placement;
  for (const auto* shardings : {&placement.operands, &placement.results}) {
    for (const Sharding& sharding : *shardings) {
      if (sharding.kind != Sharding::Kind::kReplicated) return false;
    }
  }
  return true;
}

// The shards on one device must agree in size where the whole value passes.
bool ShardsFit(const PlanDraft& draft, const OpView& op, int result,
               const ViewOf& view) {
  for (const std::string& name : op.node().placement.devices) {
    const MachineDeviceId device = draft.devices->ids.at(name);
    const Shard& from = draft.shards[draft.ShardOn(
        op.operand(view.operand).id(), device, kFirstMicroBatch)];
    const Shard& to = draft.shards[draft.ShardOn(op.result(result).id(), device,
                                                 kFirstMicroBatch)];
    if (view.offset + to.bytes > from.bytes) return false;
  }
  return true;
}

bool IsRowMajor(const OpView& op, int result, const ViewOf& view) {
  return op.operand_type(view.operand).layout.is_row_major() &&
         op.result_type(result).layout.is_row_major();
}

}  // namespace

std::optional<std::vector<ViewOf>> FindViews(const PlanDraft& draft,
                                             const OpView& op) {
  std::optional<std::vector<ViewOf>> views = ViewsOf(op);
  if (!views.has_value()) return std::nullopt;
  for (int r = 0; r < op.num_results(); ++r) {
    const ViewOf& view = (*views)[r];
    if (!IsRowMajor(op, r, view) || !HoldsForShards(op, view) ||
        !ShardsFit(draft, op, r, view)) {
      return std::nullopt;
    }
  }
  return views;
}

std::optional<int64_t> OffsetInside(const PlanDraft& draft, const Shard& part,
                                    const Shard& whole) {
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
