// Converts the tables of an entry, one function for each.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/unpack_entry.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

class EntryUnpacker {
 public:
  EntryUnpacker(const Module& module, MetadataReader& reader)
      : module_(module), reader_(reader) {}

  Entry Unpack(const fb::Entry& from);

 private:
  const Graph* FindGraph(const flatbuffers::String* name);
  Port Unpack(const fb::Port& from);
  Buffer Unpack(const fb::Buffer& from);
  Stream Unpack(const fb::Stream& from);
  Group Unpack(const fb::Group& from);
  Channel Unpack(const fb::Channel& from);
  PersistentValue Unpack(const fb::PersistentValue& from);
  Command Unpack(const fb::Command& from);
  Program Unpack(const fb::Program& from);
  Invocation Unpack(const fb::Invocation& from);
  template <typename T, typename Item>
  void Append(const Tables<T>* from, std::vector<Item>& to) {
    reader_.ForEach(from, [&](const T& item) { to.push_back(Unpack(item)); });
  }

  const Module& module_;
  MetadataReader& reader_;
  std::vector<NodeId> nodes_;  // of the entry's graph, in its order
};

Entry EntryUnpacker::Unpack(const fb::Entry& from) {
  Entry entry;
  entry.name = reader_.Text(from.name());
  entry.graph = FindGraph(from.graph());
  if (entry.graph != nullptr) nodes_ = entry.graph->order();
  Append(from.inputs(), entry.inputs);
  Append(from.outputs(), entry.outputs);
  Append(from.buffers(), entry.buffers);
  Append(from.streams(), entry.streams);
  Append(from.groups(), entry.groups);
  Append(from.channels(), entry.channels);
  Append(from.persistent(), entry.persistent);
  entry.num_events = from.num_events();
  entry.depth = from.depth();
  Append(from.programs(), entry.programs);
  Append(from.schedule(), entry.schedule);
  return entry;
}

const Graph* EntryUnpacker::FindGraph(const flatbuffers::String* name) {
  if (name == nullptr) return nullptr;
  const std::string text = reader_.Text(name);
  const Graph* graph = module_.FindFunction(text);
  if (graph == nullptr) {
    reader_.Fail("metadata",
                 absl::StrCat("found graph @", text,
                              "; expected one of the plan's module"));
  }
  return graph;
}

Port EntryUnpacker::Unpack(const fb::Port& from) {
  Port port;
  port.name = reader_.Text(from.name());
  port.type = reader_.Type(from.type());
  return port;
}

Buffer EntryUnpacker::Unpack(const fb::Buffer& from) {
  Buffer buffer;
  buffer.name = reader_.Text(from.name());
  buffer.device = DeviceId(from.device());
  buffer.persistent = from.persistent();
  if (const fb::Range* range = from.range()) {
    buffer.range = {range->offset(), range->block(), range->count(),
                    range->stride()};
  }
  return buffer;
}

Stream EntryUnpacker::Unpack(const fb::Stream& from) {
  return {reader_.Text(from.name()), DeviceId(from.device())};
}

Group EntryUnpacker::Unpack(const fb::Group& from) {
  return {reader_.Ids<StreamId>(from.ranks())};
}

Channel EntryUnpacker::Unpack(const fb::Channel& from) {
  Channel channel;
  channel.sender = StreamId(from.sender());
  channel.receiver = StreamId(from.receiver());
  channel.capacity = from.capacity();
  channel.slots = reader_.Ids<BufferId>(from.slots());
  return channel;
}

PersistentValue EntryUnpacker::Unpack(const fb::PersistentValue& from) {
  PersistentValue value;
  value.buffer = BufferId(from.buffer());
  value.node = reader_.Node(from.node(), nodes_);
  value.rank = from.rank();
  // The file's literals are the first ones of the pool, in the same order.
  value.initial = LiteralId(from.initial());
  return value;
}

Command EntryUnpacker::Unpack(const fb::Command& from) {
  Command command;
  if (from.kind() > static_cast<uint8_t>(Command::Kind::kRecv)) {
    reader_.Fail("metadata", absl::StrCat("found command kind ", from.kind(),
                                          "; expected 0..8"));
    return command;
  }
  command.kind = static_cast<Command::Kind>(from.kind());
  command.stream = StreamId(from.stream());
  command.instance = {reader_.Node(from.node(), nodes_), from.rank(),
                      MicroBatchId(from.micro_batch())};
  command.operands = reader_.Ids<BufferId>(from.operands());
  command.results = reader_.Ids<BufferId>(from.results());
  command.workspace = BufferId(from.workspace());
  command.event = EventId(from.event());
  command.port = from.port();
  command.group = GroupId(from.group());
  command.channel = ChannelId(from.channel());
  return command;
}

Program EntryUnpacker::Unpack(const fb::Program& from) {
  Program program;
  program.name = reader_.Text(from.name());
  program.num_buffer_slots = from.num_buffer_slots();
  program.num_event_slots = from.num_event_slots();
  Append(from.commands(), program.commands);
  return program;
}

Invocation EntryUnpacker::Unpack(const fb::Invocation& from) {
  Invocation invocation;
  invocation.program = ProgramId(from.program());
  invocation.micro_batch = MicroBatchId(from.micro_batch());
  invocation.buffers = reader_.Ids<BufferId>(from.buffers());
  invocation.events = reader_.Ids<EventId>(from.events());
  return invocation;
}

}  // namespace

Entry UnpackEntry(const fb::Entry& from, const Module& module,
                  MetadataReader& reader) {
  return EntryUnpacker(module, reader).Unpack(from);
}

}  // namespace partita
