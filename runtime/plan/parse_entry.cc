// Parses the lines of an entry: ports, arenas, streams, programs, schedule.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/parse_entry.h"

#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_limits.h"
#include "runtime/plan/plan_names.h"

namespace partita {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;

}  // namespace

void EntryParser::ReadHead(PlanLine& line) {
  entry_.name = line.Sigil('@', "an entry");
  if (line.Take("of")) {
    const std::string name = line.Sigil('@', "a graph");
    entry_.graph = plan_.module.FindFunction(name);
    if (entry_.graph == nullptr) {
      line.FailHere(absl::StrCat("unknown graph ", SpellSigilName('@', name)));
    }
  }
  if (line.Take("depth")) entry_.depth = line.Int("a depth", 1, kMaxPlanDepth);
  if (line.Take("events")) {
    scope_.DefineEvents(line.Int("a number of events", 0, kMaxPlanEvents));
  }
  line.Expect("{");
  line.ExpectEnd();
  if (entry_.graph != nullptr) scope_.DefineNodes();
}

bool EntryParser::ReadLine(PlanLine& line) {
  if (!line.Take("}")) {
    ReadStatement(line);
    line.ExpectEnd();
    return true;
  }
  line.ExpectEnd();
  if (open_.has_value()) {
    CloseProgram();
    return true;
  }
  CloseEntry(line);
  return false;
}

void EntryParser::ReadStatement(PlanLine& line) {
  struct Keyword {
    absl::string_view word;
    void (EntryParser::*read)(PlanLine& line);
  };
  static constexpr Keyword kKeywords[] = {
      {"input", &EntryParser::ReadInput},
      {"output", &EntryParser::ReadOutput},
      {"arena", &EntryParser::ReadArena},
      {"persistent", &EntryParser::OpenPersistent},
      {"group", &EntryParser::ReadGroup},
      {"channel", &EntryParser::ReadChannel},
      {"program", &EntryParser::ReadProgram},
      {"schedule", &EntryParser::OpenSchedule},
  };
  if (line.Take("stream")) return ReadStream(line);
  if (open_.has_value() || (section_ == Section::kStream && line.NextIsInt())) {
    return ReadCommand(line);
  }
  for (const Keyword& keyword : kKeywords) {
    if (line.Take(keyword.word)) return (this->*keyword.read)(line);
  }
  ReadOfSection(line);
}

// A line without a keyword belongs to the section above it.
void EntryParser::ReadOfSection(PlanLine& line) {
  if (section_ == Section::kStream) return ReadCommand(line);
  if (section_ == Section::kSchedule && line.Take("invoke")) {
    return ReadInvocation(line);
  }
  if (section_ == Section::kArena && line.NextIsSigil('!')) {
    return ReadBuffer(line);
  }
  if (section_ == Section::kPersistent && line.NextIsSigil('!')) {
    return ReadPersistent(line);
  }
  line.FailNext(
      "expected input, output, arena, persistent, stream, group, channel, "
      "program, schedule, or what belongs to the section above");
}

void EntryParser::ReadPort(PlanLine& line, std::vector<Port>& ports) {
  section_ = Section::kNone;
  Port port;
  port.name = line.Name("a name");
  port.type = line.Type();
  if (line.ok()) ports.push_back(std::move(port));
}

void EntryParser::ReadArena(PlanLine& line) {
  section_ = Section::kArena;
  arena_ = scope_.FindDevice(line);
}

void EntryParser::ReadBuffer(PlanLine& line) {
  Buffer buffer;
  buffer.device = arena_;
  buffer.name = line.Sigil('!', "a buffer");
  if (line.ok() && !scope_.DefineBuffer(buffer.name)) {
    line.FailHere(absl::StrCat("found a second buffer ",
                               SpellSigilName('!', buffer.name),
                               "; expected another name"));
  }
  buffer.persistent = line.Take("persistent");
  buffer.range.offset = line.Int("an offset", 0, kMaxBytes);
  buffer.range.block = line.Int("a size", 0, kMaxBytes);
  if (line.Take("x")) {
    buffer.range.count = line.Int("a number of blocks", 0, kMaxBytes);
    line.Expect("every");
    buffer.range.stride = line.Int("a stride", 0, kMaxBytes);
  }
  // Kept despite faults, so that lines that name it are not faulty too.
  entry_.buffers.push_back(std::move(buffer));
}

void EntryParser::ReadPersistent(PlanLine& line) {
  PersistentValue value;
  value.buffer = scope_.FindBuffer(line, nullptr);
  line.Expect("=");
  value.node = scope_.FindNode(line);
  if (line.Take("rank")) value.rank = line.Int("a rank", 0, kMaxPlanNumber);
  if (line.Take("initial")) {
    value.initial = ReadInitial(line);
  } else if (line.ok()) {
    value.initial = InitialLiteral(plan_.module, *entry_.graph, value.node)
                        .value_or(LiteralId());
  }
  if (line.ok()) entry_.persistent.push_back(value);
}

LiteralId EntryParser::ReadInitial(PlanLine& line) {
  if (line.Take("none")) return LiteralId();
  const TensorType type = line.Type();
  const ContentHash hash = line.Hash();
  if (!line.ok()) return LiteralId();
  if (std::optional<LiteralId> id = literals_.Find(type, hash)) return *id;
  const LiteralId id = plan_.module.literals().AddDeclared(type, hash);
  literals_.Add(type, hash, id);
  return id;
}

// Programs refer to the entry's streams and declare none.
void EntryParser::ReadStream(PlanLine& line) {
  section_ = Section::kStream;
  stream_ = open_.has_value() ? scope_.FindStream(line)
                              : scope_.FindOrDeclareStream(line);
}

void EntryParser::ReadCommand(PlanLine& line) {
  std::optional<StreamId> stream;
  if (section_ == Section::kStream) stream = stream_;
  ProgramParser& program = open_.has_value() ? *open_ : main_;
  program.ReadCommand(line, stream, scope_);
}

void EntryParser::ReadGroup(PlanLine& line) {
  section_ = Section::kNone;
  const int64_t next = static_cast<int64_t>(entry_.groups.size());
  line.Int("the group's number", next, next);
  Group& group = entry_.groups.emplace_back();
  line.ReadList("(", ")",
                [&] { group.ranks.push_back(scope_.FindStream(line)); });
}

void EntryParser::ReadChannel(PlanLine& line) {
  section_ = Section::kNone;
  const int64_t next = static_cast<int64_t>(entry_.channels.size());
  line.Int("the channel's number", next, next);
  Channel& channel = entry_.channels.emplace_back();
  channel.sender = scope_.FindStream(line);
  line.Expect("->");
  channel.receiver = scope_.FindStream(line);
  line.Expect("capacity");
  channel.capacity = line.Int("a capacity", 0, kMaxPlanNumber);
  if (line.Take("slots")) channel.slots = scope_.FindBuffers(line, nullptr);
}

void EntryParser::ReadProgram(PlanLine& line) {
  section_ = Section::kNone;
  open_ = ProgramParser::Open(line);
  const ProgramId id(static_cast<int>(entry_.programs.size()));
  if (line.ok() && !programs_.emplace(open_->name(), id).second) {
    line.FailNext("found a second program of this name; expected another name");
  }
}

void EntryParser::ReadInvocation(PlanLine& line) {
  Invocation invocation;
  const std::string name = line.Name("a program");
  const auto it = programs_.find(name);
  if (it != programs_.end()) {
    invocation.program = it->second;
  } else {
    line.FailHere(absl::StrCat("unknown program ", SpellName(name)));
  }
  if (line.Take("batch")) {
    invocation.micro_batch =
        MicroBatchId(line.Int("a micro-batch", 0, kMaxPlanNumber));
  }
  if (line.Take("buffers")) {
    invocation.buffers = scope_.FindBuffers(line, nullptr);
  }
  if (line.Take("events")) {
    line.ReadList("(", ")", [&] {
      invocation.events.push_back(scope_.FindEvent(line, nullptr));
    });
  }
  if (line.ok()) entry_.schedule.push_back(std::move(invocation));
}

void EntryParser::CloseProgram() {
  section_ = Section::kNone;
  std::optional<Program> program = open_->Take(entry_, faults_);
  open_.reset();
  // A faulty program keeps its index, for the invocations that name it.
  entry_.programs.push_back(std::move(program).value_or(Program()));
}

void EntryParser::CloseEntry(PlanLine& line) {
  if (main_.empty()) return;
  if (!entry_.programs.empty() || !entry_.schedule.empty()) {
    line.FailHere(
        "found commands in the entry itself and in programs; expected one or "
        "the other");
    return;
  }
  std::optional<Program> program = main_.Take(entry_, faults_);
  if (!program.has_value()) return;
  entry_.programs.push_back(*std::move(program));
  entry_.schedule.emplace_back();
}

}  // namespace partita
