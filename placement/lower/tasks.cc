// Lists tasks for nodes, feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/tasks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/collectives.h"
#include "placement/lower/shards.h"
#include "placement/lower/transfers.h"
#include "placement/lower/views.h"
#include "placement/machine/link_table.h"
#include "runtime/plan/collective.h"

namespace partita {
namespace {

class TaskLister {
 public:
  TaskLister(PlanDraft& draft, const Machine& machine)
      : draft_(draft), graph_(*draft.graph), links_(machine) {}

  absl::Status Run() {
    PARTITA_RETURN_IF_ERROR(FindUpdates());
    for (const OpView& op : graph_.ops()) {
      PARTITA_RETURN_IF_ERROR(ListNode(op));
    }
    PARTITA_RETURN_IF_ERROR(ListFetches());
    for (TaskId task : draft_.tasks.ids()) {
      draft_.tasks[task].graph_order = task.index;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status FindUpdates();
  absl::Status ListNode(const OpView& op);
  absl::Status ListInstance(const OpView& op, MicroBatchId micro_batch);
  absl::Status ListKernel(const OpView& op, MicroBatchId micro_batch);
  absl::Status ListAccumulate(const OpView& op);
  Task KernelTask(const OpView& op, int rank, MicroBatchId micro_batch);
  absl::Status ListCopy(const OpView& op, MicroBatchId micro_batch);
  absl::Status ListCollective(const OpView& op, MicroBatchId micro_batch);
  void ListCollective(const OpView& op,
                      const std::vector<CollectiveRank>& participants,
                      MicroBatchId micro_batch);
  absl::Status CheckCollective(const OpView& op, int value) const;
  StreamKey CollectiveStream(const std::string& device) const;
  absl::StatusOr<Task> CollectiveTask(const OpView& op, int rank,
                                      MicroBatchId micro_batch);
  absl::Status ListTransfers(const OpView& op, ShardId to);
  absl::StatusOr<std::vector<ShardId>> SourcesOf(const OpView& op,
                                                 const Shard& to) const;
  bool IsViewOfLocalShard(const OpView& op, ShardId to);
  absl::Status ListFetches();
  void ListFetch(int output, MicroBatchId micro_batch);
  void ListViews(const OpView& op, const std::vector<ViewOf>& views,
                 MicroBatchId micro_batch);
  void AddPersistentStorage(const OpView& op);
  void Feed(ValueId value, MachineDeviceId device, MicroBatchId micro_batch);
  void FeedOperands(const OpView& op, MicroBatchId micro_batch);
  void AssignNewStorage(ShardId shard);
  absl::Status AssignResultStorage(const OpView& op, ShardId to);
  Task NewTask(Command::Kind kind, StreamKey stream, NodeId node, int rank,
               MicroBatchId micro_batch) {
    Task task{.kind = kind, .instance = {node, rank, micro_batch.index}};
    task.stream = draft_.StreamOf(stream);
    return task;
  }

  PlanDraft& draft_;
  const Graph& graph_;
  const LinkTable links_;
  // By value of an update: the node of the variable.
  absl::flat_hash_map<ValueId, NodeId> updates_;
};

absl::Status TaskLister::FindUpdates() {
  absl::flat_hash_map<std::string, NodeId> variables;
  for (const OpView& op : graph_.ops(kVariable)) {
    variables.emplace(op.attr_string("name"), op.id());
  }
  for (const VariableUpdate& update : graph_.updates()) {
    const auto it = variables.find(update.variable);
    const NodeId maker = graph_.value(update.value).defining_node;
    const bool ready =
        it != variables.end() && maker.valid() &&
        (graph_.view(maker).is(kCopy) || graph_.view(maker).is(kReorder));
    if (!ready || !updates_.emplace(update.value, it->second).second) {
      return absl::FailedPreconditionError(absl::StrCat(
          "bug: @", graph_.name(), ": found an update of ", update.variable,
          " whose value is not copied to the devices of the variable; expected "
          "one copy per update; run partition first"));
    }
  }
  return absl::OkStatus();
}

// Assigns the storage of a result: that of the variable for an update's value,
// a new one for any other.
absl::Status TaskLister::AssignResultStorage(const OpView& op, ShardId to) {
  const auto update = updates_.find(draft_.shards[to].value);
  if (update == updates_.end()) {
    AssignNewStorage(to);
    return absl::OkStatus();
  }
  const ValueId variable = graph_.node(update->second).results[0];
  const ShardId home =
      draft_.ShardOn(variable, draft_.shards[to].device, kFirstMicroBatch);
  bool fits = home.valid() &&
              draft_.shards[home].type == draft_.shards[to].type &&
              draft_.shards[home].rank == draft_.shards[to].rank;
  // A kernel must not overwrite what it still reads.
  for (ValueId operand : op.node().operands) {
    const ShardId read = draft_.ShardOn(operand, draft_.shards[to].device,
                                        draft_.shards[to].micro_batch);
    fits = fits && (op.is(kCopy) || !read.valid() ||
                    draft_.shards[read].storage != draft_.shards[home].storage);
  }
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(),
        ": found an update whose value does not match its variable; expected "
        "the devices, sharding and layout of the variable; run partition "
        "first"));
  }
  draft_.shards[to].storage = draft_.shards[home].storage;
  draft_.shards[to].updated = true;
  return absl::OkStatus();
}

void TaskLister::AssignNewStorage(ShardId shard) {
  Shard& p = draft_.shards[shard];
  p.storage = draft_.AddStorage(p.device, p.bytes);
}

void TaskLister::Feed(ValueId value, MachineDeviceId device,
                      MicroBatchId micro_batch) {
  const ShardId shard = draft_.ShardOn(value, device, micro_batch);
  if (draft_.shards[shard].storage.valid()) return;
  AssignNewStorage(shard);
  Task feed = NewTask(Command::Kind::kFeed, {device}, NodeId(), 0,
                      draft_.shards[shard].micro_batch);
  feed.port = graph_.value(value).index;
  feed.writes = {draft_.Whole(shard)};
  draft_.tasks.Add(std::move(feed));
}

// A copy may read an input on any of the input's devices; other nodes read it
// on their own devices.
void TaskLister::FeedOperands(const OpView& op, MicroBatchId micro_batch) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i).is_input()) continue;
    const ValueId input = op.operand(i).id();
    const Placement& readers =
        op.is(kCopy) ? draft_.PlacementOf(input) : op.node().placement;
    for (const std::string& name : readers.devices) {
      Feed(input, draft_.devices->ids.at(name), micro_batch);
    }
  }
}

void TaskLister::AddPersistentStorage(const OpView& op) {
  const ValueId value = op.result(0).id();
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const ShardId shard = draft_.ShardOf(value, rank, kFirstMicroBatch);
    AssignNewStorage(shard);
    Storage& storage = draft_.storages[draft_.shards[shard].storage];
    storage.source = op.id();
    storage.rank = rank;
  }
}

void TaskLister::ListViews(const OpView& op, const std::vector<ViewOf>& views,
                           MicroBatchId micro_batch) {
  for (const std::string& name : op.node().placement.devices) {
    const MachineDeviceId device = draft_.devices->ids.at(name);
    for (size_t i = 0; i < views.size(); ++i) {
      const ValueId operand = op.operand(views[i].operand).id();
      const Shard& from =
          draft_.shards[draft_.ShardOn(operand, device, micro_batch)];
      Shard& to =
          draft_.shards[draft_.ShardOn(op.result(i).id(), device, micro_batch)];
      to.storage = from.storage;
      to.offset = from.offset + views[i].offset;
      to.updated = from.updated;
    }
  }
}

absl::Status TaskLister::ListNode(const OpView& op) {
  if (op.is(kConstant) || op.is(kVariable)) {
    AddPersistentStorage(op);
    return absl::OkStatus();
  }
  if (op.is(kAccumulate)) return ListAccumulate(op);
  if (op.num_results() == 0) return ListInstance(op, kFirstMicroBatch);
  for (MicroBatchId m : draft_.RunsOf(op.result(0).id())) {
    PARTITA_RETURN_IF_ERROR(ListInstance(op, m));
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListInstance(const OpView& op,
                                      MicroBatchId micro_batch) {
  FeedOperands(op, micro_batch);
  if (op.is(kCopy)) return ListCopy(op, micro_batch);
  if (op.is(kBucket)) return ListCollective(op, micro_batch);
  if (const auto views = FindViews(draft_, op)) {
    ListViews(op, *views, micro_batch);
    return absl::OkStatus();
  }
  return ListKernel(op, micro_batch);
}

absl::Status CheckKernel(const OpView& op) {
  if (op.node().kernel.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("bug: ", op.ToString(),
                   ": found no kernel; expected one bound to every node; run "
                   "choose_kernels first"));
}

// A kernel task with its reads and workspace, still without writes.
Task TaskLister::KernelTask(const OpView& op, int rank,
                            MicroBatchId micro_batch) {
  const Node& node = op.node();
  const MachineDeviceId device =
      draft_.devices->ids.at(node.placement.devices[rank]);
  Task task =
      NewTask(Command::Kind::kKernel, {device}, op.id(), rank, micro_batch);
  for (ValueId operand : node.operands) {
    task.reads.push_back(
        draft_.Whole(draft_.ShardOn(operand, device, micro_batch)));
  }
  if (node.kernel->workspace > 0) {
    task.workspace = draft_.AddStorage(device, node.kernel->workspace);
  }
  return task;
}

absl::Status TaskLister::ListKernel(const OpView& op,
                                    MicroBatchId micro_batch) {
  PARTITA_RETURN_IF_ERROR(CheckKernel(op));
  const Node& node = op.node();
  for (int rank = 0; rank < static_cast<int>(node.placement.devices.size());
       ++rank) {
    Task task = KernelTask(op, rank, micro_batch);
    for (ValueId result : node.results) {
      const ShardId to = draft_.ShardOf(result, rank, micro_batch);
      PARTITA_RETURN_IF_ERROR(AssignResultStorage(op, to));
      task.writes.push_back(draft_.Whole(to));
    }
    draft_.tasks.Add(std::move(task));
  }
  return absl::OkStatus();
}

// The operand of the first micro-batch is the first sum and needs no command.
// Each later micro-batch adds to the sum so far; ReuseOperands lets the result
// take over its bytes.
absl::Status TaskLister::ListAccumulate(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(CheckKernel(op));
  const ValueId sum = op.result(0).id();
  const auto& devices = op.node().placement.devices;
  for (MicroBatchId m : draft_.micro_batches.ids()) {
    FeedOperands(op, m);
    for (int rank = 0; rank < static_cast<int>(devices.size()); ++rank) {
      Shard& to = draft_.shards[draft_.SumAfter(sum, rank, m)];
      if (m == kFirstMicroBatch) {
        const Shard& first =
            draft_.shards[draft_.ShardOn(op.operand(0).id(), to.device, m)];
        to.storage = first.storage;
        to.offset = first.offset;
        continue;
      }
      Task task = KernelTask(op, rank, m);
      const MicroBatchId before(m.index - 1);
      task.reads.push_back(draft_.Whole(draft_.SumAfter(sum, rank, before)));
      AssignNewStorage(draft_.SumAfter(sum, rank, m));
      task.writes.push_back(draft_.Whole(draft_.SumAfter(sum, rank, m)));
      draft_.tasks.Add(std::move(task));
    }
  }
  return absl::OkStatus();
}

absl::Status TaskLister::CheckCollective(const OpView& op, int value) const {
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
StreamKey TaskLister::CollectiveStream(const std::string& device) const {
  const DeviceKind kind = links_.machine().FindDevice(device)->traits.kind;
  return {draft_.devices->ids.at(device),
          TraitsOf(kind).collectives_beside_kernels
              ? StreamKey::Role::kCollective
              : StreamKey::Role::kCompute};
}

// The task of one rank: reads its partial values or shards, and writes the
// whole values or its shards of them.
absl::StatusOr<Task> TaskLister::CollectiveTask(const OpView& op, int rank,
                                                MicroBatchId micro_batch) {
  Task task = NewTask(Command::Kind::kCollective,
                      CollectiveStream(op.node().placement.devices[rank]),
                      op.id(), rank, micro_batch);
  for (int i = 0; i < op.num_operands(); ++i) {
    const ShardId to = draft_.ShardOf(op.result(i).id(), rank, micro_batch);
    PARTITA_RETURN_IF_ERROR(AssignResultStorage(op, to));
    task.reads.push_back(
        draft_.Whole(draft_.ShardOf(op.operand(i).id(), rank, micro_batch)));
    task.writes.push_back(draft_.Whole(to));
  }
  return task;
}

absl::Status TaskLister::ListCollective(const OpView& op,
                                        MicroBatchId micro_batch) {
  int64_t bytes = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckCollective(op, i));
    bytes += op.operand_type(i).num_bytes();
  }
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    PARTITA_ASSIGN_OR_RETURN(Task task, CollectiveTask(op, rank, micro_batch));
    if (bytes > 0) draft_.tasks.Add(std::move(task));
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListCopy(const OpView& op, MicroBatchId micro_batch) {
  if (ShardingOf(draft_, op.operand(0).id()).kind == Sharding::Kind::kPartial) {
    return ListCollective(op, micro_batch);
  }
  const bool is_update = updates_.contains(op.result(0).id());
  const std::vector<CollectiveRank> participants =
      FindCollective(draft_, op, micro_batch, is_update, links_);
  const int ranks = static_cast<int>(op.node().placement.devices.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const ShardId to = draft_.ShardOf(op.result(0).id(), rank, micro_batch);
    const bool is_received =
        !participants.empty() && participants[rank].receives == to;
    if (!is_update && !is_received && IsViewOfLocalShard(op, to)) continue;
    PARTITA_RETURN_IF_ERROR(AssignResultStorage(op, to));
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
void TaskLister::ListCollective(const OpView& op,
                                const std::vector<CollectiveRank>& participants,
                                MicroBatchId micro_batch) {
  const bool is_like_all_reduce =
      updates_.contains(op.result(0).id()) &&
      CollectiveOf(op) == CollectiveKind::kAllGather;
  for (int rank = 0; rank < static_cast<int>(participants.size()); ++rank) {
    const CollectiveRank& participant = participants[rank];
    const StreamKey beside = {participant.device, StreamKey::Role::kCollective};
    Task task = NewTask(
        Command::Kind::kCollective,
        is_like_all_reduce
            ? CollectiveStream(draft_.devices->names[participant.device])
            : beside,
        op.id(), rank, micro_batch);
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
bool TaskLister::IsViewOfLocalShard(const OpView& op, ShardId to) {
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
absl::StatusOr<std::vector<ShardId>> TaskLister::SourcesOf(
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

absl::Status TaskLister::ListTransfers(const OpView& op, ShardId to) {
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
      Task task = NewTask(Command::Kind::kCopy, key, op.id(), target.rank,
                          target.micro_batch);
      task.reads = {{from, pair.from}};
      task.writes = {{to, pair.to}};
      draft_.tasks.Add(std::move(task));
    }
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListFetches() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId value = graph_.outputs()[i];
    const bool whole = draft_.first_shard[value].valid() &&
                       ShardingOf(draft_, value) == Sharding() &&
                       graph_.type(value).layout.is_row_major();
    if (!whole) {
      return absl::FailedPreconditionError(absl::StrCat(
          "bug: output ", graph_.output_names()[i],
          ": found a value that is split, not placed or not row-major; "
          "expected a whole row-major value; run partition and choose_kernels "
          "first"));
    }
    for (MicroBatchId m : draft_.RunsOf(value)) {
      ListFetch(static_cast<int>(i), m);
    }
  }
  return absl::OkStatus();
}

void TaskLister::ListFetch(int output, MicroBatchId micro_batch) {
  const ValueId value = graph_.outputs()[output];
  const ShardId shard = draft_.ShardOf(value, 0, micro_batch);
  const MachineDeviceId device = draft_.shards[shard].device;
  if (!graph_.value(value).defining_node.valid()) {
    Feed(value, device, micro_batch);
  }
  Task fetch =
      NewTask(Command::Kind::kFetch, {device}, NodeId(), 0, micro_batch);
  fetch.port = output;
  fetch.reads = {draft_.Whole(shard)};
  draft_.tasks.Add(std::move(fetch));
}

}  // namespace

absl::Status ListTasks(PlanDraft& draft, const Machine& machine) {
  return TaskLister(draft, machine).Run();
}

}  // namespace partita
