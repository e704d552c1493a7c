// Look-ups in the draft of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/plan_draft.h"

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/round_up.h"

namespace partita {

int64_t AlignUp(int64_t bytes) { return RoundUp(bytes, kArenaAlignment); }

bool SameCollective(const Task& a, const Task& b) {
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

ShardId PlanDraft::SumAfter(ValueId sum, int rank,
                            MicroBatchId micro_batch) const {
  const int ranks = static_cast<int>(PlacementOf(sum).devices.size());
  return ShardId(first_shard[sum].index + micro_batch.index * ranks + rank);
}

ShardId PlanDraft::ShardOf(ValueId value, int rank,
                           MicroBatchId micro_batch) const {
  const NodeId maker = graph->value(value).defining_node;
  if (maker.valid() && graph->view(maker).is(kAccumulate)) {
    return SumAfter(value, rank, micro_batches.last());
  }
  return SumAfter(value, rank,
                  varies[value.index] ? micro_batch : kFirstMicroBatch);
}

ShardId PlanDraft::ShardOn(ValueId value, MachineDeviceId device,
                           MicroBatchId micro_batch) const {
  if (!first_shard[value].valid()) return {};
  const int rank = device_lists.RankOn(devices_of[value], device);
  return rank < 0 ? ShardId() : ShardOf(value, rank, micro_batch);
}

std::vector<IdRange<TaskId>> PlanDraft::TasksByCollective() const {
  std::vector<IdRange<TaskId>> groups;
  for (TaskId task : tasks.ids()) {
    const TaskId first = groups.empty() ? task : groups.back().front();
    if (first < task && SameCollective(tasks[first], tasks[task])) {
      groups.back() = IdRange(first, groups.back().size() + 1);
    } else {
      groups.push_back(IdRange(task, 1));
    }
  }
  return groups;
}

StorageId PlanDraft::AddStorage(MachineDeviceId device, int64_t bytes) {
  return storages.Add({.device = device, .bytes = bytes});
}

Task PlanDraft::NewTask(Command::Kind kind, StreamKey stream,
                        Instance instance) {
  return {.kind = kind, .instance = instance, .stream = streams.Of(stream)};
}

ShardAccess PlanDraft::Whole(ShardId shard) const {
  return {shard, {.offset = 0, .block = shards[shard].bytes}};
}

Extent ExtentOf(const PlanDraft& draft, const ShardAccess& access) {
  const Shard& shard = draft.shards[access.shard];
  const int64_t begin = shard.offset + access.range.offset;
  return {shard.storage, begin,
          access.range.empty() ? begin : shard.offset + access.range.end()};
}

}  // namespace partita
