// Writes a draft down as a plan's entry.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/emit.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "placement/lower/programs.h"

namespace partita {
namespace {

class Emitter {
 public:
  Emitter(const PlanDraft& draft, const Clocks& clocks)
      : draft_(draft), clocks_(clocks), names_(draft.graph->value_id_bound()) {}

  Emitted Run() {
    NameValues();
    ListPorts();
    ListStreams();
    ListPersistent();
    ListCommands();
    SortBuffers();
    emitted_.num_commands = static_cast<int>(commands_.size());
    AddPrograms(Runs(), emitted_.entry);
    return std::move(emitted_);
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
  void AddCommand(Command command, int task);
  std::string StreamName(const StreamKey& key) const;
  int EndOfNode(int task) const;
  GroupId GroupOf(int begin, int end);
  void ListWaits(int task, const std::vector<EventId>& events);
  Command CommandOf(int task);
  Command SyncCommand(Command::Kind kind, int stream, EventId event) const;
  BufferId BufferOf(const Touch& touch);
  BufferId WorkspaceOf(const Task& task);
  BufferId AddBuffer(Buffer buffer);

  const PlanDraft& draft_;
  const Clocks& clocks_;
  std::vector<std::string> names_;  // by value id
  // Value and member, and the range in its part of the arena.
  using BufferKey =
      std::tuple<ValueId, int, int64_t, int64_t, int64_t, int64_t>;
  std::map<BufferKey, BufferId> buffers_;
  absl::flat_hash_set<std::string> taken_;
  std::map<std::vector<StreamId>, GroupId> groups_;
  std::vector<Command> commands_;  // in launch order
  std::vector<int> turns_;         // by command
  Emitted emitted_;
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
  Entry& entry = emitted_.entry;
  entry.name = graph.name();
  entry.graph = &graph;
  for (ValueId input : graph.inputs()) {
    entry.inputs.push_back(PortOf(names_[input.index], input));
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    entry.outputs.push_back(
        PortOf(graph.output_names()[i], graph.outputs()[i]));
  }
}

// The parts of micro-batches lie behind each other.
Port Emitter::PortOf(const std::string& name, ValueId value) const {
  Port port{name, draft_.graph->type(value).RowMajor()};
  if (draft_.RunsOf(value) > 1) port.type.dims[0] *= draft_.RunsOf(value);
  return port;
}

std::string Emitter::StreamName(const StreamKey& key) const {
  switch (key.role) {
    case StreamKey::Role::kCompute:
      return "compute";
    case StreamKey::Role::kCopy:
      return absl::StrCat("copy:", draft_.devices->names[key.target]);
    case StreamKey::Role::kCollective:
      break;
  }
  return "collective";
}

void Emitter::ListStreams() {
  for (const StreamKey& key : draft_.streams) {
    emitted_.entry.streams.push_back({StreamName(key), DeviceId(key.device)});
  }
}

BufferId Emitter::AddBuffer(Buffer buffer) {
  const std::string name = buffer.name;
  for (int i = 2; !taken_.insert(buffer.name).second; ++i) {
    buffer.name = absl::StrCat(name, ".", i);
  }
  emitted_.entry.buffers.push_back(std::move(buffer));
  return BufferId(static_cast<int>(emitted_.entry.buffers.size()) - 1);
}

BufferId Emitter::BufferOf(const Touch& touch) {
  const Range& part = touch.range;
  const Piece& piece = draft_.pieces[touch.piece];
  const Storage& storage = draft_.storages[piece.storage];
  const BufferKey key{
      piece.value, piece.member, storage.address + piece.offset + part.offset,
      part.block,  part.count,   part.stride};
  if (const auto it = buffers_.find(key); it != buffers_.end()) {
    return it->second;
  }
  Buffer buffer{.name = names_[piece.value.index],
                .device = DeviceId(piece.device),
                .range = part,
                .persistent = storage.persistent()};
  if (draft_.PlacementOf(piece.value).devices.size() > 1) {
    absl::StrAppend(&buffer.name, ".m", piece.member);
  }
  if (part.empty()) {
    buffer.range = {};
  } else {
    buffer.range.offset += storage.address + piece.offset;
  }
  const BufferId id = AddBuffer(std::move(buffer));
  buffers_.emplace(key, id);
  return id;
}

BufferId Emitter::WorkspaceOf(const Task& task) {
  if (task.workspace < 0) return {};
  const Storage& storage = draft_.storages[task.workspace];
  const ValueIds& results = draft_.graph->node(task.instance.node).results;
  const ValueId of = results.empty() ? ValueId() : results[0];
  // Micro-batches may have the same.
  const BufferKey key{
      of, -1 - storage.device, storage.address, storage.bytes, 1, 0};
  const auto [it, added] = buffers_.try_emplace(key);
  if (added) {
    it->second = AddBuffer(
        {.name = absl::StrCat(of.valid() ? names_[of.index] : "", ".workspace"),
         .device = DeviceId(storage.device),
         .range = {.offset = storage.address, .block = storage.bytes}});
  }
  return it->second;
}

void Emitter::ListPersistent() {
  for (const Storage& storage : draft_.storages) {
    if (!storage.persistent() || storage.address < 0) continue;
    const OpView op = draft_.graph->view(storage.source);
    const int piece = draft_.PieceOf(op.result(0).id(), storage.member, 0);
    emitted_.entry.persistent.push_back({BufferOf(draft_.Whole(piece)), op.id(),
                                         storage.member, storage.initial});
  }
}

Command Emitter::SyncCommand(Command::Kind kind, int stream,
                             EventId event) const {
  Command command;
  command.kind = kind;
  command.stream = StreamId(stream);
  command.event = event;
  return command;
}

Command Emitter::CommandOf(int index) {
  const Task& task = draft_.tasks[index];
  Command command;
  command.kind = task.kind;
  command.stream = StreamId(task.stream);
  command.instance = task.instance;
  command.port = task.port;
  for (const Touch& touch : task.reads) {
    command.operands.push_back(BufferOf(touch));
  }
  for (const Touch& touch : task.writes) {
    command.results.push_back(BufferOf(touch));
  }
  command.workspace = WorkspaceOf(task);
  return command;
}

// Behind the last part of a collective, or behind the task.
int Emitter::EndOfNode(int task) const {
  int end = task + 1;
  const int count = static_cast<int>(draft_.tasks.size());
  while (end < count && DoTogether(draft_.tasks[task], draft_.tasks[end])) {
    ++end;
  }
  return end;
}

// The group of the streams that a collective's parts are in.
GroupId Emitter::GroupOf(int begin, int end) {
  if (draft_.tasks[begin].kind != Command::Kind::kCollective) return {};
  std::vector<StreamId> members;
  for (int task = begin; task < end; ++task) {
    members.push_back(StreamId(draft_.tasks[task].stream));
  }
  std::vector<Group>& groups = emitted_.entry.groups;
  const auto [it, inserted] =
      groups_.emplace(members, GroupId(static_cast<int>(groups.size())));
  if (inserted) groups.push_back({std::move(members)});
  return it->second;
}

void Emitter::ListWaits(int task, const std::vector<EventId>& events) {
  for (int other : clocks_.waits()[task]) {
    AddCommand(SyncCommand(Command::Kind::kWait, draft_.tasks[task].stream,
                           events[other]),
               task);
  }
}

// The parts of a collective stand side by side, as none ends without the
// others: first what they all wait for, last what others wait for.
void Emitter::ListCommands() {
  const int count = static_cast<int>(draft_.tasks.size());
  std::vector<EventId> events(count);
  std::vector<bool> waited_for(count, false);
  for (const std::vector<int>& waits : clocks_.waits()) {
    for (int task : waits) waited_for[task] = true;
  }
  int num_events = 0;
  for (int begin = 0, end = 0; begin < count; begin = end) {
    end = EndOfNode(begin);
    const GroupId group = GroupOf(begin, end);
    for (int task = begin; task < end; ++task) ListWaits(task, events);
    for (int task = begin; task < end; ++task) {
      emitted_.commands.push_back(static_cast<int>(commands_.size()));
      AddCommand(CommandOf(task), task);
      commands_.back().group = group;
    }
    for (int task = begin; task < end; ++task) {
      if (!waited_for[task]) continue;
      events[task] = EventId(num_events++);
      AddCommand(SyncCommand(Command::Kind::kRecord, draft_.tasks[task].stream,
                             events[task]),
                 task);
    }
  }
  emitted_.entry.num_events = num_events;
}

void Emitter::AddCommand(Command command, int task) {
  commands_.push_back(std::move(command));
  turns_.push_back(draft_.tasks[task].turn);
}

// The stretches of one turn.
std::vector<CommandRun> Emitter::Runs() const {
  std::vector<CommandRun> runs;
  for (size_t i = 0; i < commands_.size(); ++i) {
    if (i == 0 || turns_[i] != turns_[i - 1]) {
      const bool named =
          !draft_.turns.empty() && !draft_.turns[turns_[i]].empty();
      runs.push_back({.name = named ? draft_.turns[turns_[i]] : "once"});
    }
    runs.back().commands.push_back(commands_[i]);
    runs.back().micro_batch =
        std::max(runs.back().micro_batch, commands_[i].instance.micro_batch);
  }
  if (runs.empty()) runs.emplace_back();
  return runs;
}

// By device, what persists first, then as commands first use them: the order in
// which a person reads an arena.
void Emitter::SortBuffers() {
  Entry& entry = emitted_.entry;
  std::vector<int> order(entry.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const Buffer& x = entry.buffers[a];
    const Buffer& y = entry.buffers[b];
    return std::pair(x.device, !x.persistent) <
           std::pair(y.device, !y.persistent);
  });
  std::vector<BufferId> moved(order.size());
  std::vector<Buffer> sorted;
  for (size_t i = 0; i < order.size(); ++i) {
    moved[order[i]] = BufferId(static_cast<int>(i));
    sorted.push_back(std::move(entry.buffers[order[i]]));
  }
  entry.buffers = std::move(sorted);
  auto move = [&](BufferId& id) {
    if (id.valid()) id = moved[id.index];
  };
  for (PersistentValue& value : entry.persistent) move(value.buffer);
  for (Command& command : commands_) {
    for (BufferId& id : command.operands) move(id);
    for (BufferId& id : command.results) move(id);
    move(command.workspace);
  }
}

}  // namespace

Emitted Emit(const PlanDraft& draft, const Clocks& clocks) {
  return Emitter(draft, clocks).Run();
}

}  // namespace partita
