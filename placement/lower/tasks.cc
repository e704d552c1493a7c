// Tasks from nodes, feeds and fetches.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/tasks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "placement/lower/exchange.h"
#include "placement/lower/pieces.h"
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
    for (size_t i = 0; i < draft_.tasks.size(); ++i) {
      draft_.tasks[i].rank = static_cast<int>(i);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status FindUpdates();
  absl::Status ListNode(const OpView& op);
  absl::Status ListInstance(const OpView& op, int micro_batch);
  absl::Status ListKernel(const OpView& op, int micro_batch);
  absl::Status ListSum(const OpView& op);
  Task KernelTask(const OpView& op, int member, int micro_batch);
  absl::Status ListCopy(const OpView& op, int micro_batch);
  absl::Status ListCollective(const OpView& op, int micro_batch);
  void ListExchange(const OpView& op, const std::vector<ExchangePart>& parts,
                    int micro_batch);
  absl::Status CheckJoins(const OpView& op, int value) const;
  StreamKey StreamOfPart(const std::string& device) const;
  absl::StatusOr<Task> PartOf(const OpView& op, int member, int micro_batch);
  absl::Status ListTransfers(const OpView& op, int to);
  absl::StatusOr<std::vector<int>> SourcesOf(const OpView& op,
                                             const Piece& to) const;
  bool LiesInside(const OpView& op, int to);
  absl::Status ListFetches();
  void ListFetch(int output, int micro_batch);
  void ListViews(const OpView& op, const std::vector<ViewOf>& views,
                 int micro_batch);
  void HoldSource(const OpView& op);
  void Feed(ValueId value, int device, int micro_batch);
  void FeedOperands(const OpView& op, int micro_batch);
  void GiveStorage(int piece);
  absl::Status GiveHome(const OpView& op, int to);
  Task NewTask(Command::Kind kind, StreamKey stream, Instance instance) {
    Task task{.kind = kind, .instance = instance};
    task.stream = draft_.StreamOf(stream);
    return task;
  }

  PlanDraft& draft_;
  const Graph& graph_;
  const LinkTable links_;
  // The variable's node by the value that its update takes.
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
          "@", graph_.name(), ": found an update of ", update.variable,
          " whose value is not a copy to the variable's home; expected a copy "
          "of its own for each update; run partition first"));
    }
  }
  return absl::OkStatus();
}

// An update's value goes where the variable lies, any other to new bytes.
absl::Status TaskLister::GiveHome(const OpView& op, int to) {
  const auto update = updates_.find(draft_.pieces[to].value);
  if (update == updates_.end()) {
    GiveStorage(to);
    return absl::OkStatus();
  }
  const ValueId variable = graph_.node(update->second).results[0];
  const int home = draft_.PieceOn(variable, draft_.pieces[to].device, 0);
  bool fits = home >= 0 && draft_.pieces[home].type == draft_.pieces[to].type &&
              draft_.pieces[home].member == draft_.pieces[to].member;
  // A kernel would overwrite what it still reads.
  for (ValueId operand : op.node().operands) {
    const int read = draft_.PieceOn(operand, draft_.pieces[to].device,
                                    draft_.pieces[to].micro_batch);
    fits = fits && (op.is(kCopy) || read < 0 ||
                    draft_.pieces[read].storage != draft_.pieces[home].storage);
  }
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        op.ToString(),
        ": found an update's value that cannot be put where the variable is; "
        "expected it on the variable's devices, in its sharding and layout; "
        "run partition first"));
  }
  draft_.pieces[to].storage = draft_.pieces[home].storage;
  draft_.pieces[to].updated = true;
  return absl::OkStatus();
}

void TaskLister::GiveStorage(int piece) {
  Piece& p = draft_.pieces[piece];
  p.storage = draft_.AddStorage(p.device, p.bytes);
}

void TaskLister::Feed(ValueId value, int device, int micro_batch) {
  const int piece = draft_.PieceOn(value, device, micro_batch);
  if (draft_.pieces[piece].storage >= 0) return;
  GiveStorage(piece);
  Task feed = NewTask(Command::Kind::kFeed, {device},
                      {{}, 0, draft_.pieces[piece].micro_batch});
  feed.port = graph_.value(value).index;
  feed.writes = {draft_.Whole(piece)};
  draft_.tasks.push_back(std::move(feed));
}

// A copy may take an input from any of its devices; other nodes read it on
// their own.
void TaskLister::FeedOperands(const OpView& op, int micro_batch) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (!op.operand(i).is_input()) continue;
    const ValueId input = op.operand(i).id();
    const Placement& readers =
        op.is(kCopy) ? draft_.PlacementOf(input) : op.node().placement;
    for (const std::string& name : readers.devices) {
      Feed(input, draft_.devices->index.at(name), micro_batch);
    }
  }
}

void TaskLister::HoldSource(const OpView& op) {
  const ValueId value = op.result(0).id();
  const int members = static_cast<int>(op.node().placement.devices.size());
  for (int member = 0; member < members; ++member) {
    const int piece = draft_.PieceOf(value, member, 0);
    GiveStorage(piece);
    Storage& storage = draft_.storages[draft_.pieces[piece].storage];
    storage.source = op.id();
    storage.member = member;
  }
}

void TaskLister::ListViews(const OpView& op, const std::vector<ViewOf>& views,
                           int micro_batch) {
  for (const std::string& name : op.node().placement.devices) {
    const int device = draft_.devices->index.at(name);
    for (size_t i = 0; i < views.size(); ++i) {
      const ValueId operand = op.operand(views[i].operand).id();
      const Piece& from =
          draft_.pieces[draft_.PieceOn(operand, device, micro_batch)];
      Piece& to =
          draft_.pieces[draft_.PieceOn(op.result(i).id(), device, micro_batch)];
      to.storage = from.storage;
      to.offset = from.offset + views[i].offset;
      to.updated = from.updated;
    }
  }
}

absl::Status TaskLister::ListNode(const OpView& op) {
  if (op.is(kConstant) || op.is(kVariable)) {
    HoldSource(op);
    return absl::OkStatus();
  }
  if (op.is(kAccumulate)) return ListSum(op);
  const bool once = op.num_results() == 0;
  const int runs = once ? 1 : draft_.RunsOf(op.result(0).id());
  for (int m = 0; m < runs; ++m) {
    PARTITA_RETURN_IF_ERROR(ListInstance(op, m));
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListInstance(const OpView& op, int micro_batch) {
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
      absl::StrCat(op.ToString(),
                   ": found no kernel; expected one bound to every node; run "
                   "choose_kernels first"));
}

// Reads what its member takes of the operands, and has a workspace.
Task TaskLister::KernelTask(const OpView& op, int member, int micro_batch) {
  const Node& node = op.node();
  const int device = draft_.devices->index.at(node.placement.devices[member]);
  Task task =
      NewTask(Command::Kind::kKernel, {device}, {op.id(), member, micro_batch});
  for (ValueId operand : node.operands) {
    task.reads.push_back(
        draft_.Whole(draft_.PieceOn(operand, device, micro_batch)));
  }
  if (node.kernel->workspace > 0) {
    task.workspace = draft_.AddStorage(device, node.kernel->workspace);
  }
  return task;
}

absl::Status TaskLister::ListKernel(const OpView& op, int micro_batch) {
  PARTITA_RETURN_IF_ERROR(CheckKernel(op));
  const Node& node = op.node();
  for (int member = 0; member < static_cast<int>(node.placement.devices.size());
       ++member) {
    Task task = KernelTask(op, member, micro_batch);
    for (ValueId result : node.results) {
      const int to = draft_.PieceOf(result, member, micro_batch);
      PARTITA_RETURN_IF_ERROR(GiveHome(op, to));
      task.writes.push_back(draft_.Whole(to));
    }
    draft_.tasks.push_back(std::move(task));
  }
  return absl::OkStatus();
}

// The first micro-batch's operand is the first sum: no command makes it. Each
// other one adds to the sum so far, whose bytes in_place lets it take over.
absl::Status TaskLister::ListSum(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(CheckKernel(op));
  const ValueId sum = op.result(0).id();
  const auto& devices = op.node().placement.devices;
  for (int m = 0; m < draft_.micro_batches.count; ++m) {
    FeedOperands(op, m);
    for (int member = 0; member < static_cast<int>(devices.size()); ++member) {
      Piece& to = draft_.pieces[draft_.SumAfter(sum, member, m)];
      if (m == 0) {
        const Piece& first =
            draft_.pieces[draft_.PieceOn(op.operand(0).id(), to.device, m)];
        to.storage = first.storage;
        to.offset = first.offset;
        continue;
      }
      Task task = KernelTask(op, member, m);
      task.reads.push_back(draft_.Whole(draft_.SumAfter(sum, member, m - 1)));
      GiveStorage(draft_.SumAfter(sum, member, m));
      task.writes.push_back(draft_.Whole(draft_.SumAfter(sum, member, m)));
      draft_.tasks.push_back(std::move(task));
    }
  }
  return absl::OkStatus();
}

absl::Status TaskLister::CheckJoins(const OpView& op, int value) const {
  if (draft_.PlacementOf(op.operand(value).id()).devices ==
          op.node().placement.devices &&
      ShardingOf(draft_, op.result(value).id()).kind !=
          Sharding::Kind::kPartial) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      op.ToString(),
      ": found parts or partial sums that are not joined on their own "
      "devices; expected an exchange that does; run partition first"));
}

// The cores of a CPU do what joins sums: on a stream beside that of its kernels
// it would take their time all the same, and be woken for it.
StreamKey TaskLister::StreamOfPart(const std::string& device) const {
  const bool beside =
      links_.machine().FindDevice(device)->traits.kind != DeviceKind::kCpu;
  return {draft_.devices->index.at(device),
          beside ? StreamKey::Role::kCollective : StreamKey::Role::kCompute};
}

// A member supplies its partial sums, or its parts, and takes the whole values
// or its part of them.
absl::StatusOr<Task> TaskLister::PartOf(const OpView& op, int member,
                                        int micro_batch) {
  Task task = NewTask(Command::Kind::kCollective,
                      StreamOfPart(op.node().placement.devices[member]),
                      {op.id(), member, micro_batch});
  for (int i = 0; i < op.num_operands(); ++i) {
    const int to = draft_.PieceOf(op.result(i).id(), member, micro_batch);
    PARTITA_RETURN_IF_ERROR(GiveHome(op, to));
    task.reads.push_back(
        draft_.Whole(draft_.PieceOf(op.operand(i).id(), member, micro_batch)));
    task.writes.push_back(draft_.Whole(to));
  }
  return task;
}

absl::Status TaskLister::ListCollective(const OpView& op, int micro_batch) {
  int64_t bytes = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckJoins(op, i));
    bytes += op.operand_type(i).num_bytes();
  }
  const int members = static_cast<int>(op.node().placement.devices.size());
  for (int member = 0; member < members; ++member) {
    PARTITA_ASSIGN_OR_RETURN(Task task, PartOf(op, member, micro_batch));
    if (bytes > 0) draft_.tasks.push_back(std::move(task));
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListCopy(const OpView& op, int micro_batch) {
  if (ShardingOf(draft_, op.operand(0).id()).kind == Sharding::Kind::kPartial) {
    return ListCollective(op, micro_batch);
  }
  const bool is_update = updates_.contains(op.result(0).id());
  const std::vector<ExchangePart> parts =
      FindExchange(draft_, op, micro_batch, is_update, links_);
  const int members = static_cast<int>(op.node().placement.devices.size());
  for (int member = 0; member < members; ++member) {
    const int to = draft_.PieceOf(op.result(0).id(), member, micro_batch);
    const bool taken = !parts.empty() && parts[member].takes == to;
    if (!is_update && !taken && LiesInside(op, to)) continue;
    PARTITA_RETURN_IF_ERROR(GiveHome(op, to));
    if (taken) continue;
    PARTITA_RETURN_IF_ERROR(ListTransfers(op, to));
  }
  ListExchange(op, parts, micro_batch);
  return absl::OkStatus();
}

// Beside the kernels, on a CPU too: who gives needs nothing of the others, and
// would stop computing until the last of them has come to take. But whoever
// gathers a variable's new value both gives and takes, as of a sum.
void TaskLister::ListExchange(const OpView& op,
                              const std::vector<ExchangePart>& parts,
                              int micro_batch) {
  const bool is_like_sum = updates_.contains(op.result(0).id()) &&
                           CollectiveOf(op) == CollectiveKind::kAllGather;
  for (int member = 0; member < static_cast<int>(parts.size()); ++member) {
    const ExchangePart& part = parts[member];
    const StreamKey beside = {part.device, StreamKey::Role::kCollective};
    Task task = NewTask(
        Command::Kind::kCollective,
        is_like_sum ? StreamOfPart(draft_.devices->names[part.device]) : beside,
        {op.id(), member, micro_batch});
    if (part.gives >= 0) task.reads = {draft_.Whole(part.gives)};
    if (part.takes >= 0) task.writes = {draft_.Whole(part.takes)};
    draft_.tasks.push_back(std::move(task));
  }
}

// A piece that is an interval of what its device already holds is a view of it.
// A copy that changes neither place nor sharding is meant as a copy.
bool TaskLister::LiesInside(const OpView& op, int to) {
  const ValueId operand = op.operand(0).id();
  Piece& piece = draft_.pieces[to];
  const int from = draft_.PieceOn(operand, piece.device, piece.micro_batch);
  const bool resharding =
      ShardingOf(draft_, operand) != ShardingOf(draft_, piece.value) ||
      draft_.PlacementOf(operand).devices != op.node().placement.devices;
  if (from < 0 || !resharding) return false;
  const Piece& source = draft_.pieces[from];
  const std::optional<int64_t> offset = OffsetInside(draft_, piece, source);
  if (!offset.has_value()) return false;
  piece.storage = source.storage;
  piece.offset = source.offset + *offset;
  piece.updated = source.updated;
  return true;
}

// The operand's pieces that the result's piece is made of: those of a split, or
// one replica, the nearest.
absl::StatusOr<std::vector<int>> TaskLister::SourcesOf(const OpView& op,
                                                       const Piece& to) const {
  const ValueId operand = op.operand(0).id();
  const Placement& placement = draft_.PlacementOf(operand);
  const bool split = ShardingOf(draft_, operand).kind == Sharding::Kind::kSplit;
  const std::string& target = draft_.devices->names[to.device];
  std::vector<int> sources;
  const int here = draft_.PieceOn(operand, to.device, to.micro_batch);
  if (!split && here >= 0) return std::vector<int>{here};
  for (size_t i = 0; i < placement.devices.size(); ++i) {
    const bool linked = placement.devices[i] == target ||
                        links_.Find(placement.devices[i], target) != nullptr;
    if (linked) {
      sources.push_back(
          draft_.PieceOf(operand, static_cast<int>(i), to.micro_batch));
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

absl::Status TaskLister::ListTransfers(const OpView& op, int to) {
  const Piece& target = draft_.pieces[to];
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int> sources,
                           SourcesOf(op, target));
  for (int from : sources) {
    const Piece& source = draft_.pieces[from];
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
            "; expected row-major pieces; put a reorder before the copy"));
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
      Task task = NewTask(Command::Kind::kCopy, key,
                          {op.id(), target.member, target.micro_batch});
      task.reads = {{from, pair.from}};
      task.writes = {{to, pair.to}};
      draft_.tasks.push_back(std::move(task));
    }
  }
  return absl::OkStatus();
}

absl::Status TaskLister::ListFetches() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId value = graph_.outputs()[i];
    const bool whole = draft_.first_piece[value.index] >= 0 &&
                       ShardingOf(draft_, value) == Sharding() &&
                       graph_.type(value).layout.is_row_major();
    if (!whole) {
      return absl::FailedPreconditionError(absl::StrCat(
          "output ", graph_.output_names()[i],
          ": found a value that is split, not placed or not row-major; "
          "expected a whole row-major value; run partition and choose_kernels "
          "first"));
    }
    for (int m = 0; m < draft_.RunsOf(value); ++m) {
      ListFetch(static_cast<int>(i), m);
    }
  }
  return absl::OkStatus();
}

void TaskLister::ListFetch(int output, int micro_batch) {
  const ValueId value = graph_.outputs()[output];
  const int piece = draft_.PieceOf(value, 0, micro_batch);
  const int device = draft_.pieces[piece].device;
  if (!graph_.value(value).defining_node.valid()) {
    Feed(value, device, micro_batch);
  }
  Task fetch = NewTask(Command::Kind::kFetch, {device}, {{}, 0, micro_batch});
  fetch.port = output;
  fetch.reads = {draft_.Whole(piece)};
  draft_.tasks.push_back(std::move(fetch));
}

}  // namespace

absl::Status ListTasks(PlanDraft& draft, const Machine& machine) {
  return TaskLister(draft, machine).Run();
}

}  // namespace partita
