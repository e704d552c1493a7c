// Reads the metadata of a plan file.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/unpack_plan.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "runtime/plan/plan_format.h"
#include "runtime/plan/plan_generated.h"
#include "runtime/plan/plan_ids.h"
#include "runtime/plan/plan_line.h"
#include "runtime/plan/weight_path.h"

namespace partita {
namespace {

template <typename T>
using Tables = flatbuffers::Vector<flatbuffers::Offset<T>>;

constexpr int kMaxDepth = 16;  // of nested tables; the schema has 5

ContentHash Unpack(const fb::Hash* hash) {
  return hash == nullptr ? ContentHash{}
                         : ContentHash{hash->high(), hash->low()};
}

// The first fault is kept; after it, and once more was read than the metadata
// can honestly hold (its tables may refer to each other over and over), every
// call gives nothing.
class Unpacker {
 public:
  Unpacker(absl::Span<const std::byte> metadata,
           std::shared_ptr<const MappedFile> file,
           const ReadPlanOptions& options)
      : file_(std::move(file)),
        options_(options),
        budget_(static_cast<int64_t>(metadata.size())) {}

  absl::StatusOr<Plan> Unpack(const fb::Plan& from);

 private:
  void Fail(absl::string_view where, absl::string_view message);
  bool Spend(int64_t bytes);
  std::string Text(const flatbuffers::String* from);
  template <typename T, typename Fn>
  void ForEach(const Tables<T>* from, Fn unpack);
  template <typename Id>
  std::vector<Id> Ids(const flatbuffers::Vector<int32_t>* from);
  TensorType Type(const flatbuffers::String* from);
  NodeId Node(int place);

  PlanDevice Unpack(const fb::Device& from);
  Port Unpack(const fb::Port& from);
  Buffer Unpack(const fb::Buffer& from);
  Channel Unpack(const fb::Channel& from);
  PersistentValue Unpack(const fb::PersistentValue& from);
  Command Unpack(const fb::Command& from);
  Program Unpack(const fb::Program& from);
  Invocation Unpack(const fb::Invocation& from);
  Entry Unpack(const fb::Entry& from);
  KernelImage Unpack(const fb::Image& from);
  EntryNotes Unpack(const fb::EntryNotes& from);
  PlanNotes Unpack(const fb::Notes& from);
  Certificate Unpack(const fb::Certificate& from);

  void ReadFiles(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*
          from);
  void ReadLiterals(const fb::Plan& from);
  void ReadLiteral(const fb::Literal& from, const Tables<fb::Constant>* all);
  std::shared_ptr<const MappedFile> FileOf(int file);
  void Verify(int constant, const TensorType& type, const MappedFile& file,
              int64_t offset, const ContentHash& hash);
  void ReadModule(const fb::Plan& from);
  void CountNodes(const Graph* graph);

  Plan plan_;
  std::shared_ptr<const MappedFile> file_;
  const ReadPlanOptions& options_;
  absl::Status status_;
  int64_t budget_;
  int64_t image_bytes_ = 0;
  std::vector<std::string> files_;
  std::vector<std::shared_ptr<const MappedFile>> opened_;  // as files_; or null
  absl::flat_hash_set<int> verified_;
  std::vector<NodeId> nodes_;  // of the entry at hand, in order
};

void Unpacker::Fail(absl::string_view where, absl::string_view message) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(absl::StrCat(where, ": ", message));
}

bool Unpacker::Spend(int64_t bytes) {
  if (!status_.ok()) return false;
  budget_ -= bytes;
  if (budget_ >= 0) return true;
  Fail("metadata",
       "found parts that are used more than once; expected each in one place");
  return false;
}

std::string Unpacker::Text(const flatbuffers::String* from) {
  if (from == nullptr || !Spend(from->size())) return "";
  return from->str();
}

template <typename T, typename Fn>
void Unpacker::ForEach(const Tables<T>* from, Fn unpack) {
  if (from == nullptr || !Spend(int64_t{4} * from->size())) return;
  for (const T* item : *from) {
    if (!status_.ok()) return;
    unpack(*item);
  }
}

template <typename Id>
std::vector<Id> Unpacker::Ids(const flatbuffers::Vector<int32_t>* from) {
  std::vector<Id> ids;
  if (from == nullptr || !Spend(int64_t{4} * from->size())) return ids;
  ids.reserve(from->size());
  for (int32_t index : *from) ids.emplace_back(index);
  return ids;
}

TensorType Unpacker::Type(const flatbuffers::String* from) {
  const std::string text = Text(from);
  absl::StatusOr<TensorType> type = ParseTensorType(text);
  if (type.ok()) return *std::move(type);
  Fail("metadata", type.status().message());
  return {};
}

void Unpacker::CountNodes(const Graph* graph) {
  nodes_.clear();
  if (graph != nullptr) nodes_ = graph->order();
}

NodeId Unpacker::Node(int place) {
  if (place < 0) return NodeId();
  if (static_cast<size_t>(place) < nodes_.size()) return nodes_[place];
  Fail("metadata",
       absl::StrCat("found node ", place, "; expected one of ", nodes_.size()));
  return NodeId();
}

PlanDevice Unpacker::Unpack(const fb::Device& from) {
  PlanDevice device;
  DeviceTraits& traits = device.traits;
  traits.name = Text(from.name());
  if (from.kind() > static_cast<uint8_t>(DeviceKind::kCuda)) {
    Fail("metadata",
         absl::StrCat("found device kind ", from.kind(), "; expected 0 or 1"));
  }
  traits.kind = static_cast<DeviceKind>(from.kind());
  traits.threads = from.threads();
  traits.isa = Text(from.isa());
  const size_t rates = from.peak_flops() ? from.peak_flops()->size() : 0;
  for (size_t i = 0; i < std::min(rates, traits.peak_flops.size()); ++i) {
    traits.peak_flops[i] = from.peak_flops()->Get(i);
  }
  traits.memory_bandwidth = from.memory_bandwidth();
  traits.launch_seconds = from.launch_seconds();
  device.memory = from.memory();
  device.alignment = from.alignment();
  device.persistent_bytes = from.persistent_bytes();
  device.step_bytes = from.step_bytes();
  return device;
}

Port Unpacker::Unpack(const fb::Port& from) {
  Port port;
  port.name = Text(from.name());
  port.type = Type(from.type());
  return port;
}

Buffer Unpacker::Unpack(const fb::Buffer& from) {
  Buffer buffer;
  buffer.name = Text(from.name());
  buffer.device = DeviceId(from.device());
  buffer.persistent = from.persistent();
  if (const fb::Range* range = from.range()) {
    buffer.range = {range->offset(), range->block(), range->count(),
                    range->stride()};
  }
  return buffer;
}

Channel Unpacker::Unpack(const fb::Channel& from) {
  Channel channel;
  channel.sender = StreamId(from.sender());
  channel.receiver = StreamId(from.receiver());
  channel.capacity = from.capacity();
  channel.slots = Ids<BufferId>(from.slots());
  return channel;
}

PersistentValue Unpacker::Unpack(const fb::PersistentValue& from) {
  PersistentValue value;
  value.buffer = BufferId(from.buffer());
  value.node = Node(from.node());
  value.member = from.member();
  // The file's literals are the pool's first ones, in the same order.
  value.initial = LiteralId(from.initial());
  return value;
}

Command Unpacker::Unpack(const fb::Command& from) {
  Command command;
  if (from.kind() > static_cast<uint8_t>(Command::Kind::kRecv)) {
    Fail("metadata",
         absl::StrCat("found command kind ", from.kind(), "; expected 0..8"));
    return command;
  }
  command.kind = static_cast<Command::Kind>(from.kind());
  command.stream = StreamId(from.stream());
  command.instance = {Node(from.node()), from.member(), from.micro_batch()};
  command.operands = Ids<BufferId>(from.operands());
  command.results = Ids<BufferId>(from.results());
  command.workspace = BufferId(from.workspace());
  command.event = EventId(from.event());
  command.port = from.port();
  command.group = GroupId(from.group());
  command.channel = ChannelId(from.channel());
  return command;
}

Program Unpacker::Unpack(const fb::Program& from) {
  Program program;
  program.name = Text(from.name());
  program.num_buffer_slots = from.num_buffer_slots();
  program.num_event_slots = from.num_event_slots();
  ForEach(from.commands(), [&](const fb::Command& command) {
    program.commands.push_back(Unpack(command));
  });
  return program;
}

Invocation Unpacker::Unpack(const fb::Invocation& from) {
  Invocation invocation;
  invocation.program = from.program();
  invocation.micro_batch = from.micro_batch();
  invocation.buffers = Ids<BufferId>(from.buffers());
  invocation.events = Ids<EventId>(from.events());
  return invocation;
}

Entry Unpacker::Unpack(const fb::Entry& from) {
  Entry entry;
  entry.name = Text(from.name());
  if (from.graph() != nullptr) {
    const std::string graph = Text(from.graph());
    entry.graph = plan_.module.FindFunction(graph);
    if (entry.graph == nullptr) {
      Fail("metadata", absl::StrCat("found graph @", graph,
                                    "; expected one of the plan's module"));
    }
  }
  CountNodes(entry.graph);
  const auto into = [this](auto& list) {
    return [this, &list](const auto& item) { list.push_back(Unpack(item)); };
  };
  ForEach(from.inputs(), into(entry.inputs));
  ForEach(from.outputs(), into(entry.outputs));
  ForEach(from.buffers(), into(entry.buffers));
  ForEach(from.streams(), [&](const fb::Stream& stream) {
    entry.streams.push_back({Text(stream.name()), DeviceId(stream.device())});
  });
  ForEach(from.groups(), [&](const fb::Group& group) {
    entry.groups.push_back({Ids<StreamId>(group.members())});
  });
  ForEach(from.channels(), into(entry.channels));
  ForEach(from.persistent(), into(entry.persistent));
  entry.num_events = from.num_events();
  entry.depth = from.depth();
  ForEach(from.programs(), into(entry.programs));
  ForEach(from.schedule(), into(entry.schedule));
  return entry;
}

KernelImage Unpacker::Unpack(const fb::Image& from) {
  KernelImage image;
  image.target = Text(from.target());
  if (from.declared()) {
    image.declared_size = from.size();
    image.declared_hash = partita::Unpack(from.hash());
    return image;
  }
  const int64_t file_size = static_cast<int64_t>(file_->bytes().size());
  const absl::Status fits =
      CheckFileRange(from.offset(), from.size(), file_size);
  if (!fits.ok()) Fail("kernel image", fits.message());
  // Images are copied; together they are no more than the file.
  if (status_.ok() && from.size() > file_size - image_bytes_) {
    Fail("kernel image", "found bytes that several share; expected their own");
  }
  if (!status_.ok()) return image;
  image_bytes_ += from.size();
  const absl::Span<const std::byte> bytes =
      file_->bytes().subspan(from.offset(), from.size());
  if (HashBytes(bytes) != partita::Unpack(from.hash())) {
    Fail("kernel image",
         "found other bytes than were written; the file is damaged: copy or "
         "compile it again");
    return image;
  }
  image.bytes.assign(bytes.begin(), bytes.end());
  return image;
}

EntryNotes Unpacker::Unpack(const fb::EntryNotes& from) {
  EntryNotes notes;
  ForEach(from.nodes(), [&](const fb::NodeNote& note) {
    notes.nodes.push_back(
        {Node(note.node()), Text(note.reason()), note.seconds()});
  });
  if (from.predicted() != nullptr &&
      Spend(int64_t{16} * from.predicted()->size())) {
    for (const fb::CommandNote* note : *from.predicted()) {
      notes.predicted.push_back({note->start_seconds(), note->end_seconds()});
    }
  }
  notes.step_seconds = from.step_seconds();
  notes.bound_seconds = from.bound_seconds();
  return notes;
}

PlanNotes Unpacker::Unpack(const fb::Notes& from) {
  PlanNotes notes;
  notes.machine_json = Text(from.machine_json());
  notes.summary = Text(from.summary());
  ForEach(from.entries(), [&](const fb::EntryNotes& entry) {
    const size_t index = notes.entries.size();
    CountNodes(index < plan_.entries.size() ? plan_.entries[index].graph
                                            : nullptr);
    notes.entries.push_back(Unpack(entry));
  });
  return notes;
}

Certificate Unpacker::Unpack(const fb::Certificate& from) {
  Certificate certificate;
  certificate.checker = Text(from.checker());
  certificate.plan_hash = Text(from.plan_hash());
  const auto read = [this](const auto* texts, std::vector<std::string>& to) {
    if (texts == nullptr || !Spend(int64_t{4} * texts->size())) return;
    for (const flatbuffers::String* text : *texts) to.push_back(Text(text));
  };
  read(from.proved(), certificate.proved);
  read(from.assumed(), certificate.assumed);
  return certificate;
}

void Unpacker::ReadFiles(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* from) {
  if (from == nullptr || !Spend(int64_t{4} * from->size())) return;
  for (const flatbuffers::String* file : *from) files_.push_back(Text(file));
  opened_.resize(files_.size());
}

std::shared_ptr<const MappedFile> Unpacker::FileOf(int file) {
  if (file == -1) return file_;
  if (file < 0 || static_cast<size_t>(file) >= files_.size()) {
    Fail("constant", absl::StrCat("found file ", file, "; expected one of ",
                                  files_.size()));
    return nullptr;
  }
  if (opened_[file] != nullptr) return opened_[file];
  const absl::StatusOr<std::string> path = OpenedWeightPath(
      file_->path(), files_[file], options_.allow_parent_folders);
  if (!path.ok()) {
    status_.Update(path.status());
    return nullptr;
  }
  absl::StatusOr<std::shared_ptr<const MappedFile>> opened =
      MappedFile::Open(*path);
  if (!opened.ok()) {
    status_.Update(absl::Status(
        opened.status().code(),
        absl::StrCat("weights: ", opened.status().message(),
                     "; expected the file that the plan was compiled from")));
    return nullptr;
  }
  opened_[file] = *std::move(opened);
  return opened_[file];
}

void Unpacker::ReadLiterals(const fb::Plan& from) {
  const Tables<fb::Constant>* constants = from.constants();
  if (constants != nullptr && !Spend(int64_t{4} * constants->size())) return;
  ForEach(from.literals(),
          [&](const fb::Literal& literal) { ReadLiteral(literal, constants); });
}

void Unpacker::ReadLiteral(const fb::Literal& from,
                           const Tables<fb::Constant>* all) {
  const int count = all == nullptr ? 0 : static_cast<int>(all->size());
  TensorType type = Type(from.type());
  if (from.constant() < 0 || from.constant() >= count) {
    Fail("constant", absl::StrCat("found number ", from.constant(),
                                  "; expected one of ", count));
  }
  if (!status_.ok()) return;
  const fb::Constant& constant = *all->Get(from.constant());
  std::shared_ptr<const MappedFile> file = FileOf(constant.file());
  if (file == nullptr) return;
  const std::string where =
      absl::StrCat("constant ", from.constant(), " in ", file->path());
  const absl::Status fits =
      CheckFileRange(constant.offset(), constant.size(),
                     static_cast<int64_t>(file->bytes().size()));
  if (!fits.ok()) return Fail(where, fits.message());
  if (constant.size() != type.num_bytes()) {
    return Fail(where,
                absl::StrCat("found ", constant.size(), " bytes; expected ",
                             type.num_bytes(), " of ", type.ToString()));
  }
  // Bytes of other files are as aligned as their writers made them.
  const int64_t alignment = constant.file() == -1 ? 64 : BitsOf(type.dtype) / 8;
  if (constant.offset() % alignment != 0) {
    return Fail(where, absl::StrCat("found offset ", constant.offset(),
                                    "; expected a multiple of ", alignment));
  }
  const ContentHash hash = partita::Unpack(constant.hash());
  Verify(from.constant(), type, *file, constant.offset(), hash);
  plan_.module.literals().AddMapped(std::move(type), std::move(file),
                                    constant.offset(), hash);
}

void Unpacker::Verify(int constant, const TensorType& type,
                      const MappedFile& file, int64_t offset,
                      const ContentHash& hash) {
  if (!options_.verify_hashes || !verified_.insert(constant).second) return;
  const ContentHash found =
      HashBytes(file.bytes().subspan(offset, type.num_bytes()));
  if (found == hash) return;
  Fail(
      absl::StrCat("constant ", constant, " in ", file.path()),
      absl::StrCat("found #", found.ToString(), "; expected #", hash.ToString(),
                   "; the file was changed since the plan was compiled: "
                   "compile again"));
}

void Unpacker::ReadModule(const fb::Plan& from) {
  const flatbuffers::String* text = from.module_();
  if (text == nullptr || !Spend(text->size())) return;
  const OpSet& ops = options_.ops ? *options_.ops : OpSet::BuiltIn();
  status_.Update(ParseIntoModule(absl::string_view(text->c_str(), text->size()),
                                 "placed graph", ops, plan_.module));
}

absl::StatusOr<Plan> Unpacker::Unpack(const fb::Plan& from) {
  plan_.name = Text(from.name());
  ReadFiles(from.files());
  ReadLiterals(from);
  if (status_.ok()) ReadModule(from);
  ForEach(from.devices(), [this](const fb::Device& device) {
    plan_.devices.push_back(Unpack(device));
  });
  ForEach(from.entries(), [this](const fb::Entry& entry) {
    plan_.entries.push_back(Unpack(entry));
  });
  ForEach(from.images(), [this](const fb::Image& image) {
    plan_.images.push_back(Unpack(image));
  });
  if (from.notes() != nullptr) plan_.notes = Unpack(*from.notes());
  if (from.certificate() != nullptr) {
    plan_.certificate = Unpack(*from.certificate());
  }
  PARTITA_RETURN_IF_ERROR(status_);
  PARTITA_RETURN_IF_ERROR(CheckIds(plan_));
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<Plan> UnpackPlan(absl::Span<const std::byte> metadata,
                                std::shared_ptr<const MappedFile> file,
                                const ReadPlanOptions& options) {
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t*>(metadata.data()), metadata.size(),
      kMaxDepth, static_cast<flatbuffers::uoffset_t>(metadata.size() / 8 + 1));
  if (!fb::VerifyPlanBuffer(verifier)) {
    return absl::InvalidArgumentError(
        "metadata: found tables that do not fit together; the file is damaged: "
        "copy or compile it again");
  }
  return Unpacker(metadata, std::move(file), options)
      .Unpack(*fb::GetPlan(metadata.data()));
}

}  // namespace partita
