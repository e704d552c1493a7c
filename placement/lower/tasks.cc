// Lists tasks for kernels, sums, feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/tasks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/copy_tasks.h"
#include "placement/lower/result_storages.h"
#include "placement/lower/shards.h"
#include "placement/lower/views.h"

namespace partita {
namespace {

class TaskLister {
 public:
  TaskLister(PlanDraft& draft, const Machine& machine, PortStreams ports)
      : draft_(draft),
        graph_(*draft.graph),
        machine_(machine),
        ports_(ports),
        storages_(draft),
        copies_(draft, storages_, machine) {}

  absl::Status Run() {
    PARTITA_RETURN_IF_ERROR(storages_.FindUpdates());
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
  absl::Status ListNode(const OpView& op);
  absl::Status ListInstance(const OpView& op, MicroBatchId micro_batch);
  absl::Status ListKernel(const OpView& op, MicroBatchId micro_batch);
  absl::Status ListAccumulate(const OpView& op);
  Task KernelTask(const OpView& op, int rank, MicroBatchId micro_batch);
  absl::Status ListFetches();
  void ListFetch(int output, MicroBatchId micro_batch);
  void ListViews(const OpView& op, const std::vector<ViewOf>& views,
                 MicroBatchId micro_batch);
  void AddPersistentStorage(const OpView& op);
  StreamKey StreamOfPort(const Shard& shard, StreamKey::Role own) const;
  bool IsOfVariable(const Shard& shard) const;
  void Feed(ValueId value, MachineDeviceId device, MicroBatchId micro_batch);
  void FeedOperands(const OpView& op, MicroBatchId micro_batch);

  PlanDraft& draft_;
  const Graph& graph_;
  const Machine& machine_;
  const PortStreams ports_;
  ResultStorages storages_;
  CopyTasks copies_;
};

StreamKey TaskLister::StreamOfPort(const Shard& shard,
                                   StreamKey::Role own) const {
  const DeviceKind kind = machine_.devices[shard.device.index].traits.kind;
  const bool beside = ports_ == PortStreams::kOwn &&
                      TraitsOf(kind).ports_beside_kernels &&
                      !IsOfVariable(shard);
  return {shard.device, beside ? own : StreamKey::Role::kCompute};
}

// True for bytes of a variable, and for those that an update may write there in
// place. An update in place, and steps that overlap, need all uses of the
// variable in one stream (updates.h).
bool TaskLister::IsOfVariable(const Shard& shard) const {
  if (draft_.storages[shard.storage].persistent()) return true;
  return absl::c_any_of(graph_.updates(), [&](const VariableUpdate& update) {
    const OpView copy = graph_.view(graph_.value(update.value).defining_node);
    const ShardId source =
        draft_.ShardOn(copy.operand(0).id(), shard.device, shard.micro_batch);
    return source.valid() && draft_.shards[source].storage == shard.storage;
  });
}

void TaskLister::Feed(ValueId value, MachineDeviceId device,
                      MicroBatchId micro_batch) {
  const ShardId shard = draft_.ShardOn(value, device, micro_batch);
  if (draft_.shards[shard].storage.valid()) return;
  storages_.AssignNew(shard);
  const Shard& fed = draft_.shards[shard];
  Task feed = draft_.NewTask(Command::Kind::kFeed,
                             StreamOfPort(fed, StreamKey::Role::kFeed),
                             {.micro_batch = fed.micro_batch});
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
    storages_.AssignNew(shard);
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
  if (op.is(kCopy)) return copies_.ListCopy(op, micro_batch);
  if (op.is(kBucket)) return copies_.ListReduceOrGather(op, micro_batch);
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
  Task task = draft_.NewTask(Command::Kind::kKernel, {device},
                             {op.id(), rank, micro_batch});
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
      PARTITA_RETURN_IF_ERROR(storages_.Assign(op, to));
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
      storages_.AssignNew(draft_.SumAfter(sum, rank, m));
      task.writes.push_back(draft_.Whole(draft_.SumAfter(sum, rank, m)));
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
  Task fetch = draft_.NewTask(
      Command::Kind::kFetch,
      StreamOfPort(draft_.shards[shard], StreamKey::Role::kFetch),
      {.micro_batch = micro_batch});
  fetch.port = output;
  fetch.reads = {draft_.Whole(shard)};
  draft_.tasks.Add(std::move(fetch));
}

}  // namespace

absl::Status ListTasks(PlanDraft& draft, const Machine& machine,
                       PortStreams ports) {
  return TaskLister(draft, machine, ports).Run();
}

bool HasPortStreams(const PlanDraft& draft) {
  return absl::c_any_of(draft.streams, [](const StreamKey& stream) {
    return stream.role == StreamKey::Role::kFeed ||
           stream.role == StreamKey::Role::kFetch;
  });
}

}  // namespace partita
