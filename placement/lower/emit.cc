// Writes a draft as an entry of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/emit.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "placement/lower/programs.h"

namespace partita {
namespace {

class Emitter {
 public:
  Emitter(const PlanDraft& draft, const Clocks& clocks,
          const IdVector<MachineDeviceId, DeviceId>& devices)
      : draft_(draft),
        clocks_(clocks),
        devices_(devices),
        names_(draft.graph->value_id_bound()) {}

  Entry Run() {
    NameValues();
    ListPorts();
    ListStreams();
    ListPersistent();
    ListCommands();
    SortBuffers();
    AddPrograms(Runs(), entry_);
    return std::move(entry_);
  }

 private:
  void NameValues();
  void ListPorts();
  void ListStreams();
  void ListPersistent();
  void ListCommands();
  void SortBuffers();
  std::vector<CommandRun> Runs() const;
  Port PortOf(const std::string& name, ValueId value) const;
  void AddCommand(Command command, TaskId task);
  std::string StreamName(const StreamKey& key) const;
  GroupId GroupOf(const IdRange<TaskId>& tasks);
  void ListWaits(TaskId task, const IdVector<TaskId, EventId>& events);
  Command CommandOf(TaskId task);
  Command SyncCommand(Command::Kind kind, StreamId stream, EventId event) const;
  BufferId BufferOf(const ShardAccess& access);
  BufferId WorkspaceOf(const Task& task);
  BufferId AddBuffer(Buffer buffer);

  const PlanDraft& draft_;
  const Clocks& clocks_;
  const IdVector<MachineDeviceId, DeviceId>& devices_;
  std::vector<std::string> names_;  // by value id
  // Value, rank, and the range in its part of the arena.
  using BufferKey =
      std::tuple<ValueId, int, int64_t, int64_t, int64_t, int64_t>;
  absl::flat_hash_map<BufferKey, BufferId> buffers_;
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> last_number_;  // by name without it
  std::map<std::vector<StreamId>, GroupId> groups_;
  std::vector<Command> commands_;  // in launch order
  std::vector<int> unit_runs_;     // by command
  Entry entry_;
};

void Emitter::NameValues() {
  const Graph& graph = *draft_.graph;
  int unnamed = 0;
  auto name = [&](ValueId id) {
    const std::string& given = graph.value(id).name;
    names_[id.index] = given.empty() ? absl::StrCat(unnamed++) : given;
  };
  for (ValueId input : graph.inputs()) name(input);
  for (const OpView& op : graph.ops()) {
    for (ValueId result : op.node().results) name(result);
  }
}

void Emitter::ListPorts() {
  const Graph& graph = *draft_.graph;
  entry_.name = graph.name();
  entry_.graph = &graph;
  for (ValueId input : graph.inputs()) {
    entry_.inputs.push_back(PortOf(names_[input.index], input));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    entry_.outputs.push_back(
        PortOf(graph.output_names()[i], graph.outputs()[i]));
  }
}

// A port holds the whole batch: its micro-batches are adjacent.
Port Emitter::PortOf(const std::string& name, ValueId value) const {
  Port port{name, draft_.graph->type(value).RowMajor()};
  const int64_t runs = static_cast<int64_t>(draft_.RunsOf(value).size());
  if (runs > 1) port.type.dims[0] *= runs;
  return port;
}

std::string Emitter::StreamName(const StreamKey& key) const {
  switch (key.role) {
    case StreamKey::Role::kCompute:
      return "compute";
    case StreamKey::Role::kCopy:
      return absl::StrCat("copy:", draft_.devices->names[key.target]);
    case StreamKey::Role::kCollective:
      return "collective";
    case StreamKey::Role::kFeed:
      return "feed";
    case StreamKey::Role::kFetch:
      break;
  }
  return "fetch";
}

void Emitter::ListStreams() {
  for (const StreamKey& key : draft_.streams) {
    entry_.streams.push_back({StreamName(key), devices_[key.device]});
  }
}

// Names stay taken, so the numbers that an earlier buffer of the name found
// taken need not be tried again: a value has one buffer for each micro-batch.
BufferId Emitter::AddBuffer(Buffer buffer) {
  const std::string name = buffer.name;
  int& last = last_number_.try_emplace(name, 1).first->second;
  while (!taken_.insert(buffer.name).second) {
    buffer.name = absl::StrCat(name, ".", ++last);
  }
  entry_.buffers.push_back(std::move(buffer));
  return BufferId(static_cast<int>(entry_.buffers.size()) - 1);
}

BufferId Emitter::BufferOf(const ShardAccess& access) {
  const Range& range = access.range;
  const Shard& shard = draft_.shards[access.shard];
  const Storage& storage = draft_.storages[shard.storage];
  const BufferKey key{
      shard.value, shard.rank,  storage.offset + shard.offset + range.offset,
      range.block, range.count, range.stride};
  if (const auto it = buffers_.find(key); it != buffers_.end()) {
    return it->second;
  }
  Buffer buffer{.name = names_[shard.value.index],
                .device = devices_[shard.device],
                .range = range,
                .persistent = storage.persistent()};
  if (draft_.PlacementOf(shard.value).devices.size() > 1) {
    absl::StrAppend(&buffer.name, ".m", shard.rank);
  }
  if (range.empty()) {
    buffer.range = {};
  } else {
    buffer.range.offset += storage.offset + shard.offset;
  }
  const BufferId id = AddBuffer(std::move(buffer));
  buffers_.emplace(key, id);
  return id;
}

BufferId Emitter::WorkspaceOf(const Task& task) {
  if (!task.workspace.valid()) return {};
  const Storage& storage = draft_.storages[task.workspace];
  const ValueIds& results = draft_.graph->node(task.instance.node).results;
  const ValueId of = results.empty() ? ValueId() : results[0];
  // Micro-batches may share a workspace.
  const BufferKey key{
      of, -1 - storage.device.index, storage.offset, storage.bytes, 1, 0};
  const auto [it, added] = buffers_.try_emplace(key);
  if (added) {
    it->second = AddBuffer(
        {.name = absl::StrCat(of.valid() ? names_[of.index] : "", ".workspace"),
         .device = devices_[storage.device],
         .range = {.offset = storage.offset, .block = storage.bytes}});
  }
  return it->second;
}

void Emitter::ListPersistent() {
  for (const Storage& storage : draft_.storages) {
    if (!storage.persistent() || storage.offset < 0) continue;
    const OpView op = draft_.graph->view(storage.source);
    const ShardId shard =
        draft_.ShardOf(op.result(0).id(), storage.rank, kFirstMicroBatch);
    entry_.persistent.push_back({BufferOf(draft_.Whole(shard)), op.id(),
                                 storage.rank, storage.initial});
  }
}

Command Emitter::SyncCommand(Command::Kind kind, StreamId stream,
                             EventId event) const {
  Command command;
  command.kind = kind;
  command.stream = stream;
  command.event = event;
  return command;
}

Command Emitter::CommandOf(TaskId id) {
  const Task& task = draft_.tasks[id];
  Command command;
  command.kind = task.kind;
  command.stream = task.stream;
  command.instance = task.instance;
  command.port = task.port;
  for (const ShardAccess& access : task.reads) {
    command.operands.push_back(BufferOf(access));
  }
  for (const ShardAccess& access : task.writes) {
    command.results.push_back(BufferOf(access));
  }
  command.workspace = WorkspaceOf(task);
  return command;
}

// The group of the streams that a collective runs in, by rank.
GroupId Emitter::GroupOf(const IdRange<TaskId>& tasks) {
  const Command::Kind kind = draft_.tasks[tasks.front()].kind;
  if (kind != Command::Kind::kCollective) return {};
  std::vector<StreamId> ranks;
  for (TaskId task : tasks) ranks.push_back(draft_.tasks[task].stream);
  std::vector<Group>& groups = entry_.groups;
  const auto [it, inserted] =
      groups_.emplace(ranks, GroupId(static_cast<int>(groups.size())));
  if (inserted) groups.push_back({std::move(ranks)});
  return it->second;
}

void Emitter::ListWaits(TaskId task, const IdVector<TaskId, EventId>& events) {
  for (TaskId other : clocks_.waits()[task]) {
    AddCommand(SyncCommand(Command::Kind::kWait, draft_.tasks[task].stream,
                           events[other]),
               task);
  }
}

// No rank of a collective ends without the others. Its commands are therefore
// adjacent: first the waits of all ranks, then the collective, then the records
// of all ranks.
void Emitter::ListCommands() {
  IdVector<TaskId, EventId> events(draft_.tasks.size());
  IdVector<TaskId, bool> waited_for(draft_.tasks.size(), false);
  for (const std::vector<TaskId>& waits : clocks_.waits()) {
    for (TaskId task : waits) waited_for[task] = true;
  }
  int num_events = 0;
  for (const IdRange<TaskId>& tasks : draft_.TasksByCollective()) {
    const GroupId group = GroupOf(tasks);
    for (TaskId task : tasks) ListWaits(task, events);
    for (TaskId task : tasks) {
      AddCommand(CommandOf(task), task);
      commands_.back().group = group;
    }
    for (TaskId task : tasks) {
      if (!waited_for[task]) continue;
      events[task] = EventId(num_events++);
      AddCommand(SyncCommand(Command::Kind::kRecord, draft_.tasks[task].stream,
                             events[task]),
                 task);
    }
  }
  entry_.num_events = num_events;
}

void Emitter::AddCommand(Command command, TaskId task) {
  commands_.push_back(std::move(command));
  unit_runs_.push_back(draft_.tasks[task].unit_run);
}

// Maximal stretches of commands of one unit run.
std::vector<CommandRun> Emitter::Runs() const {
  std::vector<CommandRun> runs;
  for (size_t i = 0; i < commands_.size(); ++i) {
    if (i == 0 || unit_runs_[i] != unit_runs_[i - 1]) {
      const bool named =
          !draft_.unit_runs.empty() && !draft_.unit_runs[unit_runs_[i]].empty();
      runs.push_back(
          {.name = named ? draft_.unit_runs[unit_runs_[i]] : "once"});
    }
    runs.back().commands.push_back(commands_[i]);
    runs.back().micro_batch =
        std::max(runs.back().micro_batch, commands_[i].instance.micro_batch);
  }
  if (runs.empty()) runs.emplace_back();
  return runs;
}

// Sorts buffers by device; persistent ones first, the others by first use.
void Emitter::SortBuffers() {
  const IdRange<BufferId> ids(entry_.buffers.size());
  std::vector<BufferId> order(ids.begin(), ids.end());
  std::stable_sort(order.begin(), order.end(), [&](BufferId a, BufferId b) {
    const Buffer& x = entry_.buffers[a.index];
    const Buffer& y = entry_.buffers[b.index];
    return std::pair(x.device, !x.persistent) <
           std::pair(y.device, !y.persistent);
  });
  IdVector<BufferId, BufferId> moved(order.size());
  std::vector<Buffer> sorted;
  for (BufferId id : order) {
    moved[id] = BufferId(static_cast<int>(sorted.size()));
    sorted.push_back(std::move(entry_.buffers[id.index]));
  }
  entry_.buffers = std::move(sorted);
  auto move = [&](BufferId& id) {
    if (id.valid()) id = moved[id];
  };
  for (PersistentValue& value : entry_.persistent) move(value.buffer);
  for (Command& command : commands_) {
    for (BufferId& id : command.operands) move(id);
    for (BufferId& id : command.results) move(id);
    move(command.workspace);
  }
}

}  // namespace

Entry Emit(const PlanDraft& draft, const Clocks& clocks,
           const IdVector<MachineDeviceId, DeviceId>& devices) {
  return Emitter(draft, clocks, devices).Run();
}

}  // namespace partita
