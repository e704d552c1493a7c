// Lists collectives, transfers and views of shards for copies and buckets.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/copy_tasks.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/status_macros.h"
#include "placement/lower/shards.h"
#include "placement/lower/transfers.h"
#include "placement/lower/views.h"
#include "runtime/plan/collective.h"

namespace partita {

absl::Status CopyTasks::CheckReduceOrGather(const OpView& op, int value) const {
  if (draft_.PlacementOf(op.operand(value).id()).devices ==
          op.node().placement.devices &&
      ShardingOf(draft_, op.result(value).id()).kind !=
          Sharding::Kind::kPartial) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "bug: ", op.ToString(),
      ": found an operand on other devices or a result that is still "
      "partial; expected a collective that reduces or gathers the operand on "
      "its own devices; run partition first"));
}

// The stream of an all-reduce or gather. On a CPU the same cores run kernels
// and reductions. A separate stream would take their time anyway, and would add
// wake-ups.
StreamKey CopyTasks::StreamOfReduction(const std::string& device) const {
  const DeviceKind kind = links_.machine().FindDevice(device)->traits.kind;
  return {draft_.devices->ids.at(device),
          TraitsOf(kind).collectives_beside_kernels
              ? StreamKey::Role::kCollective
              : StreamKey::Role::kCompute};
}

// The task of one rank: reads its partial values or shards, and writes the
// whole values or its shards of them.
absl::StatusOr<Task> CopyTasks::RankOfReduceOrGather(const OpView& op, int rank,
                                                     MicroBatchId micro_batch) {
  Task task =
      draft_.NewTask(Command::Kind::kCollective,
                     StreamOfReduction(op.node().placement.devices[rank]),
                     {op.id(), rank, micro_batch});
  for (int i = 0; i < op.num_operands(); ++i) {
    const ShardId to = draft_.ShardOf(op.result(i).id(), rank, micro_batch);
    PARTITA_RETURN_IF_ERROR(storages_.Assign(op, to));
    task.reads.push_back(
        draft_.Whole(draft_.ShardOf(op.operand(i).id(), rank, micro_batch)));
    task.writes.push_back(draft_.Whole(to));
  }
  return task;
}

absl::Status CopyTasks::ListReduceOrGather(const OpView& op,
                                           MicroBatchId micro_batch) {
  int64_t bytes = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckReduceOrGather(op, i));
    bytes += op.operand_type(i).num_bytes();
  }
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    PARTITA_ASSIGN_OR_RETURN(Task task,
                             RankOfReduceOrGather(op, rank, micro_batch));
    if (bytes > 0) draft_.tasks.Add(std::move(task));
  }
  return absl::OkStatus();
}

absl::Status CopyTasks::ListCopy(const OpView& op, MicroBatchId micro_batch) {
  if (ShardingOf(draft_, op.operand(0).id()).kind == Sharding::Kind::kPartial) {
    return ListReduceOrGather(op, micro_batch);
  }
  const bool is_update = storages_.IsUpdate(op.result(0).id());
  const std::vector<CollectiveRank> participants =
      FindCollective(draft_, op, micro_batch, is_update, links_);
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const ShardId to = draft_.ShardOf(op.result(0).id(), rank, micro_batch);
    const bool is_received =
        !participants.empty() && participants[rank].receives == to;
    if (!is_update && !is_received && IsViewOfLocalShard(op, to)) continue;
    PARTITA_RETURN_IF_ERROR(storages_.Assign(op, to));
    if (is_received) continue;
    PARTITA_RETURN_IF_ERROR(ListTransfers(op, to));
  }
  ListCollective(op, participants, micro_batch);
  return absl::OkStatus();
}

// The tasks of a broadcast, permute, all-gather or all-to-all run in their own
// stream, on a CPU too: a sender needs nothing from the others and need not
// stop computing until the last receiver arrives. In an all-gather of a
// variable's new value every rank sends and receives, as in an all-reduce.
void CopyTasks::ListCollective(const OpView& op,
                               const std::vector<CollectiveRank>& participants,
                               MicroBatchId micro_batch) {
  const bool is_like_all_reduce =
      storages_.IsUpdate(op.result(0).id()) &&
      CollectiveOf(op) == CollectiveKind::kAllGather;
  for (int rank = 0; rank < static_cast<int>(participants.size()); ++rank) {
    const CollectiveRank& participant = participants[rank];
    const StreamKey beside = {participant.device, StreamKey::Role::kCollective};
    Task task = draft_.NewTask(
        Command::Kind::kCollective,
        is_like_all_reduce
            ? StreamOfReduction(draft_.devices->names[participant.device])
            : beside,
        {op.id(), rank, micro_batch});
    if (participant.sends.valid())
      task.reads = {draft_.Whole(participant.sends)};
    if (participant.receives.valid()) {
      task.writes = {draft_.Whole(participant.receives)};
    }
    draft_.tasks.Add(std::move(task));
  }
}

// True, and makes the shard a view, if it is an interval of a shard that its
// device already holds. A copy that changes neither devices nor sharding is an
// explicit copy and stays one.
bool CopyTasks::IsViewOfLocalShard(const OpView& op, ShardId to) {
  const ValueId operand = op.operand(0).id();
  Shard& shard = draft_.shards[to];
  const ShardId from = draft_.ShardOn(operand, shard.device, shard.micro_batch);
  const bool resharding =
      ShardingOf(draft_, operand) != ShardingOf(draft_, shard.value) ||
      draft_.PlacementOf(operand).devices != op.node().placement.devices;
  if (!from.valid() || !resharding) return false;
  const Shard& source = draft_.shards[from];
  const std::optional<int64_t> offset = OffsetInside(draft_, shard, source);
  if (!offset.has_value()) return false;
  shard.storage = source.storage;
  shard.offset = source.offset + *offset;
  shard.updated = source.updated;
  return true;
}

// The operand's shards that make up the result's shard: all shards of a split,
// or one replica: the local one, else the first that is linked.
absl::StatusOr<std::vector<ShardId>> CopyTasks::SourcesOf(
    const OpView& op, const Shard& to) const {
  const ValueId operand = op.operand(0).id();
  const Placement& placement = draft_.PlacementOf(operand);
  const bool split = ShardingOf(draft_, operand).kind == Sharding::Kind::kSplit;
  const std::string& target = draft_.devices->names[to.device];
  std::vector<ShardId> sources;
  const ShardId here = draft_.ShardOn(operand, to.device, to.micro_batch);
  if (!split && here.valid()) return std::vector<ShardId>{here};
  for (size_t i = 0; i < placement.devices.size(); ++i) {
    const bool linked = placement.devices[i] == target ||
                        links_.Find(placement.devices[i], target) != nullptr;
    if (linked) {
      sources.push_back(
          draft_.ShardOf(operand, static_cast<int>(i), to.micro_batch));
    }
    if (linked && !split) return sources;
    if (!linked && split) {
      return absl::FailedPreconditionError(
          absl::StrCat(op.ToString(), ": found no link ", placement.devices[i],
                       " -> ", target,
                       "; expected one for each copy; run "
                       "partition for this machine"));
    }
  }
  if (sources.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(), ": found no link to ", target,
        "; expected one for each copy; run partition for this machine"));
  }
  return sources;
}

absl::Status CopyTasks::ListTransfers(const OpView& op, ShardId to) {
  const Shard& target = draft_.shards[to];
  PARTITA_ASSIGN_OR_RETURN(const std::vector<ShardId> sources,
                           SourcesOf(op, target));
  for (ShardId from : sources) {
    const Shard& source = draft_.shards[from];
    std::vector<RangePair> pairs;
    if (source.type == target.type) {
      const Range all{.offset = 0, .block = source.bytes};
      if (sources.size() == 1) pairs.push_back({all, all});
    }
    if (pairs.empty()) {
      if (!source.type.layout.is_row_major() ||
          !target.type.layout.is_row_major()) {
        return absl::FailedPreconditionError(absl::StrCat(
            op.ToString(), ": found a resharding of ", source.type.ToString(),
            "; expected row-major shards; put a reorder before the copy"));
      }
      PARTITA_ASSIGN_OR_RETURN(
          pairs, TransfersBetween(BoxOf(draft_, source), BoxOf(draft_, target),
                                  BitsOf(target.type.dtype) / 8));
    }
    const StreamKey key =
        source.device == target.device
            ? StreamKey{source.device}
            : StreamKey{source.device, StreamKey::Role::kCopy, target.device};
    for (const RangePair& pair : pairs) {
      Task task = draft_.NewTask(Command::Kind::kCopy, key,
                                 {op.id(), target.rank, target.micro_batch});
      task.reads = {{from, pair.from}};
      task.writes = {{to, pair.to}};
      draft_.tasks.Add(std::move(task));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
