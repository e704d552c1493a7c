// Builds the metadata of a plan file.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/pack_plan.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/text/printer.h"
#include "runtime/plan/plan_generated.h"

namespace partita {
namespace {

using flatbuffers::Offset;

// FlatBuffers ends the program at 2^31 bytes.
constexpr int64_t kMaxEstimate = int64_t{3} << 29;

template <typename T>
using Offsets = std::vector<Offset<T>>;

template <typename Ids>
std::vector<int32_t> Indices(const Ids& ids) {
  std::vector<int32_t> indices;
  indices.reserve(ids.size());
  for (auto id : ids) indices.push_back(id.index);
  return indices;
}

fb::Hash Pack(const ContentHash& hash) { return fb::Hash(hash.high, hash.low); }

// The size of a table without its texts and lists; no table has more fields.
constexpr int64_t kTable = 256;

int64_t BytesOf(const std::vector<Port>& ports) {
  int64_t bytes = 0;
  for (const Port& port : ports) {
    bytes += kTable + port.name.size() + port.type.ToString().size();
  }
  return bytes;
}

int64_t BytesOf(const Program& program) {
  int64_t bytes = kTable + program.name.size();
  for (const Command& command : program.commands) {
    bytes += 128 + 4 * (command.operands.size() + command.results.size());
  }
  return bytes;
}

int64_t BytesOf(const Entry& entry) {
  int64_t bytes = kTable + entry.name.size() + BytesOf(entry.inputs) +
                  BytesOf(entry.outputs) + 128 * entry.persistent.size();
  if (entry.graph != nullptr) bytes += entry.graph->name().size();
  for (const Buffer& buffer : entry.buffers) bytes += 128 + buffer.name.size();
  for (const Stream& stream : entry.streams) bytes += 64 + stream.name.size();
  for (const Group& group : entry.groups) {
    bytes += 64 + 4 * group.ranks.size();
  }
  for (const Channel& channel : entry.channels) {
    bytes += 64 + 4 * channel.slots.size();
  }
  for (const Program& program : entry.programs) bytes += BytesOf(program);
  for (const Invocation& invocation : entry.schedule) {
    bytes += 64 + 4 * (invocation.buffers.size() + invocation.events.size());
  }
  return bytes;
}

int64_t BytesOf(const PlanNotes& notes) {
  int64_t bytes = kTable + notes.machine_json.size() + notes.summary.size();
  for (const EntryNotes& entry : notes.entries) {
    bytes += kTable + 16 * entry.predicted.size();
    for (const NodeNote& note : entry.nodes) bytes += 64 + note.reason.size();
  }
  return bytes;
}

int64_t BytesOf(const Certificate& certificate) {
  int64_t bytes =
      kTable + certificate.checker.size() + certificate.plan_hash.size();
  for (const auto* list : {&certificate.proved, &certificate.assumed}) {
    for (const std::string& text : *list) bytes += 16 + text.size();
  }
  return bytes;
}

// An upper bound of the metadata's bytes: the maximum size of each field, and
// the lengths of lists and texts.
int64_t Estimate(const Plan& plan, const std::string& module,
                 const StoredConstants& constants) {
  int64_t bytes = kTable + plan.name.size() + module.size();
  for (const PlanDevice& device : plan.devices) {
    bytes += 2 * kTable + device.traits.name.size() + device.traits.isa.size();
  }
  for (const std::string& file : constants.files) bytes += 16 + file.size();
  bytes += 128 * constants.constants.size();
  for (const StoredLiteral& stored : constants.literals) {
    const LiteralPool& pool = plan.module.literals();
    bytes += 64 + pool.type(stored.literal).ToString().size();
  }
  for (const auto& code : plan.code_objects)
    bytes += kTable + code.target.size();
  for (const Entry& entry : plan.entries) bytes += BytesOf(entry);
  if (plan.notes.has_value()) bytes += BytesOf(*plan.notes);
  if (plan.certificate.has_value()) bytes += BytesOf(*plan.certificate);
  return bytes;
}

class Packer {
 public:
  Packer(const Plan& plan, const StoredConstants& constants,
         const std::vector<StoredCode>& code_objects)
      : plan_(plan), constants_(constants), code_(code_objects) {}

  std::string Pack(const std::string& module);

 private:
  template <typename T, typename From, typename Fn>
  Offset<flatbuffers::Vector<Offset<T>>> PackAll(const From& from, Fn pack) {
    Offsets<T> offsets;
    offsets.reserve(from.size());
    for (const auto& item : from) offsets.push_back(pack(item));
    return builder_.CreateVector(offsets);
  }
  Offset<flatbuffers::String> String(const std::string& text) {
    return builder_.CreateString(text);
  }
  template <typename Ids>
  Offset<flatbuffers::Vector<int32_t>> PackIds(const Ids& ids) {
    return builder_.CreateVector(Indices(ids));
  }

  Offset<fb::Device> Pack(const PlanDevice& device);
  Offset<fb::Port> Pack(const Port& port);
  Offset<fb::Buffer> Pack(const Buffer& buffer);
  Offset<fb::Channel> Pack(const Channel& channel);
  Offset<fb::PersistentValue> Pack(const PersistentValue& value);
  Offset<fb::Command> Pack(const Command& command);
  Offset<fb::Program> Pack(const Program& program);
  Offset<fb::Invocation> Pack(const Invocation& invocation);
  Offset<fb::Entry> Pack(const Entry& entry);
  Offset<fb::CodeObject> Pack(size_t code);
  Offset<fb::EntryNotes> Pack(size_t entry, const EntryNotes& notes);
  Offset<fb::Notes> Pack(const PlanNotes& notes);
  Offset<fb::Certificate> Pack(const Certificate& certificate);
  // Numbers node ids by their position in the graph's order.
  void CountNodes(const Graph* graph);
  int Node(NodeId id) const;

  const Plan& plan_;
  const StoredConstants& constants_;
  const std::vector<StoredCode>& code_;
  std::vector<int> node_places_;  // by id, of the present entry
  flatbuffers::FlatBufferBuilder builder_;
};

void Packer::CountNodes(const Graph* graph) {
  node_places_.clear();
  if (graph == nullptr) return;
  node_places_.assign(graph->node_id_bound(), -1);
  int place = 0;
  for (NodeId id : graph->order()) node_places_[id.index] = place++;
}

int Packer::Node(NodeId id) const {
  const bool exists =
      id.valid() && static_cast<size_t>(id.index) < node_places_.size();
  return exists ? node_places_[id.index] : -1;
}

Offset<fb::Device> Packer::Pack(const PlanDevice& device) {
  const DeviceTraits& traits = device.traits;
  const auto name = String(traits.name);
  const auto isa = String(traits.isa);
  const auto peak =
      builder_.CreateVector(traits.peak_flops.data(), traits.peak_flops.size());
  return fb::CreateDevice(
      builder_, name, static_cast<uint8_t>(traits.kind), traits.threads, isa,
      peak, traits.memory_bandwidth, traits.launch_seconds, device.memory,
      device.alignment, device.persistent_bytes, device.step_bytes);
}

Offset<fb::Port> Packer::Pack(const Port& port) {
  const auto name = String(port.name);
  return fb::CreatePort(builder_, name, String(port.type.ToString()));
}

Offset<fb::Buffer> Packer::Pack(const Buffer& buffer) {
  const fb::Range range(buffer.range.offset, buffer.range.block,
                        buffer.range.count, buffer.range.stride);
  return fb::CreateBuffer(builder_, String(buffer.name), buffer.device.index,
                          &range, buffer.persistent);
}

Offset<fb::Channel> Packer::Pack(const Channel& channel) {
  return fb::CreateChannel(builder_, channel.sender.index,
                           channel.receiver.index, channel.capacity,
                           PackIds(channel.slots));
}

Offset<fb::PersistentValue> Packer::Pack(const PersistentValue& value) {
  const auto place = constants_.places.find(value.initial);
  return fb::CreatePersistentValue(
      builder_, value.buffer.index, Node(value.node), value.rank,
      place == constants_.places.end() ? -1 : place->second);
}

Offset<fb::Command> Packer::Pack(const Command& command) {
  const auto operands = PackIds(command.operands);
  const auto results = PackIds(command.results);
  return fb::CreateCommand(
      builder_, static_cast<uint8_t>(command.kind), command.stream.index,
      Node(command.instance.node), command.instance.rank,
      command.instance.micro_batch.index, operands, results,
      command.workspace.index, command.event.index, command.port,
      command.group.index, command.channel.index);
}

Offset<fb::Program> Packer::Pack(const Program& program) {
  const auto name = String(program.name);
  const auto commands = PackAll<fb::Command>(
      program.commands, [this](const Command& c) { return Pack(c); });
  return fb::CreateProgram(builder_, name, program.num_buffer_slots,
                           program.num_event_slots, commands);
}

Offset<fb::Invocation> Packer::Pack(const Invocation& invocation) {
  const auto buffers = PackIds(invocation.buffers);
  const auto events = PackIds(invocation.events);
  return fb::CreateInvocation(builder_, invocation.program.index,
                              invocation.micro_batch.index, buffers, events);
}

Offset<fb::Entry> Packer::Pack(const Entry& entry) {
  CountNodes(entry.graph);
  const auto name = String(entry.name);
  Offset<flatbuffers::String> graph;
  if (entry.graph != nullptr) graph = String(entry.graph->name());
  const auto pack = [this](const auto& item) { return Pack(item); };
  const auto inputs = PackAll<fb::Port>(entry.inputs, pack);
  const auto outputs = PackAll<fb::Port>(entry.outputs, pack);
  const auto buffers = PackAll<fb::Buffer>(entry.buffers, pack);
  const auto streams =
      PackAll<fb::Stream>(entry.streams, [this](const Stream& stream) {
        return fb::CreateStream(builder_, String(stream.name),
                                stream.device.index);
      });
  const auto groups =
      PackAll<fb::Group>(entry.groups, [this](const Group& group) {
        return fb::CreateGroup(builder_, PackIds(group.ranks));
      });
  const auto channels = PackAll<fb::Channel>(entry.channels, pack);
  const auto persistent = PackAll<fb::PersistentValue>(entry.persistent, pack);
  const auto programs = PackAll<fb::Program>(entry.programs, pack);
  const auto schedule = PackAll<fb::Invocation>(entry.schedule, pack);
  return fb::CreateEntry(builder_, name, graph, inputs, outputs, buffers,
                         streams, groups, channels, persistent,
                         entry.num_events, entry.depth, programs, schedule);
}

Offset<fb::CodeObject> Packer::Pack(size_t code) {
  const StoredCode& stored = code_[code];
  const fb::Hash hash = partita::Pack(stored.hash);
  return fb::CreateCodeObject(builder_, String(plan_.code_objects[code].target),
                              &hash, stored.offset, stored.size,
                              stored.declared);
}

Offset<fb::EntryNotes> Packer::Pack(size_t entry, const EntryNotes& notes) {
  const bool exists = entry < plan_.entries.size();
  CountNodes(exists ? plan_.entries[entry].graph : nullptr);
  const auto nodes =
      PackAll<fb::NodeNote>(notes.nodes, [this](const NodeNote& note) {
        return fb::CreateNodeNote(builder_, Node(note.node),
                                  String(note.reason), note.seconds);
      });
  std::vector<fb::CommandNote> predicted;
  for (const CommandNote& note : notes.predicted) {
    predicted.emplace_back(note.start_seconds, note.end_seconds);
  }
  return fb::CreateEntryNotes(
      builder_, nodes, builder_.CreateVectorOfStructs(predicted),
      notes.step_seconds, notes.bound_seconds, String(notes.bound_by));
}

Offset<fb::Notes> Packer::Pack(const PlanNotes& notes) {
  const auto machine = String(notes.machine_json);
  Offsets<fb::EntryNotes> entries;
  for (size_t i = 0; i < notes.entries.size(); ++i) {
    entries.push_back(Pack(i, notes.entries[i]));
  }
  const auto packed = builder_.CreateVector(entries);
  return fb::CreateNotes(builder_, machine, packed, String(notes.summary));
}

Offset<fb::Certificate> Packer::Pack(const Certificate& certificate) {
  const auto checker = String(certificate.checker);
  const auto hash = String(certificate.plan_hash);
  const auto proved = builder_.CreateVectorOfStrings(certificate.proved);
  const auto assumed = builder_.CreateVectorOfStrings(certificate.assumed);
  return fb::CreateCertificate(builder_, checker, hash, proved, assumed);
}

std::string Packer::Pack(const std::string& module) {
  const auto pack = [this](const auto& item) { return Pack(item); };
  const LiteralPool& pool = plan_.module.literals();
  const auto name = String(plan_.name);
  const auto devices = PackAll<fb::Device>(plan_.devices, pack);
  const auto text = String(module);
  const auto files = builder_.CreateVectorOfStrings(constants_.files);
  const auto constants = PackAll<fb::Constant>(
      constants_.constants, [this](const StoredConstant& constant) {
        const fb::Hash hash = partita::Pack(constant.hash);
        return fb::CreateConstant(builder_, &hash, constant.file,
                                  constant.offset, constant.size);
      });
  const auto literals = PackAll<fb::Literal>(
      constants_.literals, [&](const StoredLiteral& literal) {
        return fb::CreateLiteral(builder_,
                                 String(pool.type(literal.literal).ToString()),
                                 literal.constant);
      });
  const auto entries = PackAll<fb::Entry>(plan_.entries, pack);
  Offsets<fb::CodeObject> code_objects;
  for (size_t i = 0; i < code_.size(); ++i) code_objects.push_back(Pack(i));
  const auto packed_code = builder_.CreateVector(code_objects);
  Offset<fb::Notes> notes;
  if (plan_.notes.has_value()) notes = Pack(*plan_.notes);
  Offset<fb::Certificate> certificate;
  if (plan_.certificate.has_value()) certificate = Pack(*plan_.certificate);
  builder_.Finish(fb::CreatePlan(builder_, name, devices, text, files,
                                 constants, literals, entries, packed_code,
                                 notes, certificate));
  return std::string(reinterpret_cast<const char*>(builder_.GetBufferPointer()),
                     builder_.GetSize());
}

}  // namespace

absl::StatusOr<std::string> PackPlan(
    const Plan& plan, const StoredConstants& constants,
    const std::vector<StoredCode>& code_objects) {
  const std::string module = PrintModule(plan.module);
  const int64_t estimate = Estimate(plan, module, constants);
  if (estimate > kMaxEstimate) {
    return absl::ResourceExhaustedError(
        absl::StrCat("plan @", plan.name, ": found about ", estimate,
                     " bytes beside its constants; expected at most ",
                     kMaxEstimate, "; use fewer micro-batches or entries"));
  }
  return Packer(plan, constants, code_objects).Pack(module);
}

}  // namespace partita
