// Finds shards from placements.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/shards.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

absl::Status NeedsPartition(const OpView& op, absl::string_view found,
                            absl::string_view expected) {
  return absl::FailedPreconditionError(
      absl::StrCat("bug: ", op.ToString(), ": found ", found, "; expected ",
                   expected, "; run partition first"));
}

// Adds the shards of a value: one in each micro-batch of `runs` for each rank.
void AddShards(PlanDraft& draft, ValueId value, IdRange<MicroBatchId> runs) {
  const Placement& placement = draft.PlacementOf(value);
  const Sharding sharding = ShardingOf(draft, value);
  const TensorType& whole = draft.graph->type(value);
  const int ranks = static_cast<int>(placement.devices.size());
  std::vector<MachineDeviceId> devices;
  for (const std::string& name : placement.devices) {
    devices.push_back(draft.devices->ids.at(name));
  }
  draft.devices_of[value] = draft.device_lists.Of(devices);
  draft.first_shard[value] = ShardId(static_cast<int>(draft.shards.size()));
  for (MicroBatchId micro_batch : runs) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Box box = BoxOf(whole, sharding, rank, ranks);
      TensorType type = whole;
      for (int d = 0; d < whole.rank(); ++d) {
        type.dims[d] = box.end[d] - box.begin[d];
      }
      const int64_t bytes = type.num_bytes();
      draft.shards.Add({.value = value,
                        .rank = rank,
                        .micro_batch = micro_batch,
                        .device = devices[rank],
                        .type = std::move(type),
                        .bytes = bytes});
    }
  }
}

absl::Status CheckOperand(const PlanDraft& draft, const OpView& op,
                          int operand) {
  const ValueId value = op.operand(operand).id();
  const Placement& placement = op.node().placement;
  if (!draft.first_shard[value].valid()) {
    return NeedsPartition(
        op,
        absl::StrCat("an operand %", op.operand(operand).name(),
                     " without a device"),
        "a placed operand");
  }
  if (op.is(kCopy)) return absl::OkStatus();
  const Sharding wanted =
      placement.operands.empty() ? Sharding() : placement.operands[operand];
  if (wanted != ShardingOf(draft, value)) {
    return NeedsPartition(op,
                          absl::StrCat("operand %", op.operand(operand).name(),
                                       " in another sharding than the node's"),
                          "the same sharding");
  }
  for (const std::string& device : placement.devices) {
    if (!draft.ShardOn(value, draft.devices->ids.at(device), kFirstMicroBatch)
             .valid()) {
      return NeedsPartition(
          op,
          absl::StrCat("operand %", op.operand(operand).name(), " not on ",
                       device),
          "operands on the devices of the node");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSum(const PlanDraft& draft, const OpView& op) {
  if (!op.is(kAccumulate) ||
      op.attr_int("micro_batches") == draft.micro_batches.count) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      op.ToString(), ": found a sum over ", op.attr_int("micro_batches"),
      " micro-batches in a step of ", draft.micro_batches.count,
      "; expected the same number; let the compiler add such sums"));
}

}  // namespace

Box BoxOf(const TensorType& whole, const Sharding& sharding, int rank,
          int ranks) {
  Box box{Shape(whole.rank(), 0), whole.dims};
  if (sharding.kind == Sharding::Kind::kSplit && sharding.dim >= 0 &&
      sharding.dim < whole.rank()) {
    const Interval interval =
        RankInterval(whole.dims[sharding.dim], sharding.unit, rank, ranks);
    box.begin[sharding.dim] = interval.begin;
    box.end[sharding.dim] = interval.end;
  }
  return box;
}

Box BoxOf(const PlanDraft& draft, const Shard& shard) {
  return BoxOf(draft.graph->type(shard.value), ShardingOf(draft, shard.value),
               shard.rank,
               static_cast<int>(draft.PlacementOf(shard.value).devices.size()));
}

Sharding ShardingOf(const PlanDraft& draft, ValueId id) {
  const Value& value = draft.graph->value(id);
  const Placement& placement = draft.PlacementOf(id);
  if (placement.results.empty() || placement.devices.size() < 2) return {};
  // An input's placement has one result.
  return placement.results[value.defining_node.valid() ? value.index : 0];
}

absl::Status FindShards(PlanDraft& draft) {
  draft.first_shard = IdVector<ValueId, ShardId>(draft.graph->value_id_bound());
  draft.devices_of =
      IdVector<ValueId, DeviceListId>(draft.graph->value_id_bound());
  draft.varies =
      VaryingValues(*draft.graph, draft.micro_batches.sharded_inputs);
  for (ValueId input : draft.graph->inputs()) {
    if (!draft.PlacementOf(input).placed()) continue;
    AddShards(draft, input, draft.RunsOf(input));
  }
  for (const OpView& op : draft.graph->ops()) {
    if (!op.node().placement.placed()) {
      return NeedsPartition(op, "no device", "a placed node");
    }
    for (int i = 0; i < op.num_operands(); ++i) {
      PARTITA_RETURN_IF_ERROR(CheckOperand(draft, op, i));
    }
    PARTITA_RETURN_IF_ERROR(CheckSum(draft, op));
    for (ValueId result : op.node().results) {
      const bool each = draft.varies[result.index] || op.is(kAccumulate);
      AddShards(draft, result,
                each ? draft.micro_batches.ids() : draft.RunsOf(result));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
