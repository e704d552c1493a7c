// Lines of an entry: ports, arenas, streams, programs, schedule.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/parse_entry.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "graph/text/names.h"
#include "runtime/plan/plan_names.h"

namespace partita {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 60;
constexpr int64_t kMaxSmall = 1 << 20;  // depth, slots, batches, capacities

}  // namespace

EntryParser::EntryParser(Plan& plan, const DevicesByName& devices,
                         LiteralIndex& literals, Diagnostics& faults)
    : plan_(plan), devices_(devices), literals_(literals), faults_(faults) {
  main_.program.name = "main";
}

void EntryParser::ReadHead(PlanLine& line) {
  entry_.name = line.Sigil('@', "an entry");
  if (line.Take("of")) {
    const std::string name = line.Sigil('@', "a graph");
    entry_.graph = plan_.module.FindFunction(name);
    if (entry_.graph == nullptr) {
      line.FailHere(absl::StrCat("unknown graph ", SpellSigilName('@', name)));
    }
  }
  if (line.Take("depth")) entry_.depth = line.Int("a depth", 1, kMaxSmall);
  if (line.Take("events")) {
    entry_.num_events = line.Int("a number of events", 0, kMaxSmall);
    events_given_ = true;
  }
  line.Expect("{");
  line.ExpectEnd();
  if (entry_.graph == nullptr) return;
  const std::vector<std::string> values = ValueNames(*entry_.graph);
  for (NodeId id : entry_.graph->order()) {
    const ValueIds& results = entry_.graph->node(id).results;
    if (!results.empty()) nodes_.emplace(values[results[0].index], id);
  }
}

bool EntryParser::ReadLine(PlanLine& line) {
  if (line.Take("}")) {
    if (open_.has_value()) {
      CloseProgram(line);
      return true;
    }
    CloseEntry(line);
    return false;
  }
  if (line.Take("stream")) {
    ReadStream(line);
  } else if (open_.has_value() ||
             (section_ == Section::kStream && line.NextIsInt())) {
    ReadCommand(line);
  } else if (line.Take("input")) {
    ReadPort(line, entry_.inputs);
  } else if (line.Take("output")) {
    ReadPort(line, entry_.outputs);
  } else if (line.Take("arena")) {
    ReadArena(line);
  } else if (line.Take("persistent")) {
    section_ = Section::kPersistent;
  } else if (line.Take("group")) {
    ReadGroup(line);
  } else if (line.Take("channel")) {
    ReadChannel(line);
  } else if (line.Take("program")) {
    ReadProgram(line);
  } else if (line.Take("schedule")) {
    section_ = Section::kSchedule;
  } else if (section_ == Section::kSchedule && line.Take("invoke")) {
    ReadInvocation(line);
  } else if (section_ == Section::kArena && line.NextIsSigil('!')) {
    ReadBuffer(line);
  } else if (section_ == Section::kPersistent && line.NextIsSigil('!')) {
    ReadPersistent(line);
  } else if (section_ == Section::kStream) {
    ReadCommand(line);
  } else {
    line.FailNext(
        "expected input, output, arena, persistent, stream, group, channel, "
        "program, schedule, or what belongs to the section above");
  }
  line.ExpectEnd();
  return true;
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
  arena_ = FindDevice(line);
}

void EntryParser::ReadBuffer(PlanLine& line) {
  Buffer buffer;
  buffer.device = arena_;
  buffer.name = line.Sigil('!', "a buffer");
  if (line.ok() &&
      !buffers_.emplace(buffer.name, BufferId(entry_.buffers.size())).second) {
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
  // Kept in spite of faults, so that what names it is not faulty too.
  entry_.buffers.push_back(std::move(buffer));
}

void EntryParser::ReadPersistent(PlanLine& line) {
  PersistentValue value;
  value.buffer = FindBuffer(line, false);
  line.Expect("=");
  value.node = FindNode(line);
  if (line.Take("member")) value.member = line.Int("a member", 0, kMaxSmall);
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

void EntryParser::ReadStream(PlanLine& line) {
  section_ = Section::kStream;
  stream_ = FindStream(line, /*declare=*/!open_.has_value());
}

void EntryParser::ReadGroup(PlanLine& line) {
  section_ = Section::kNone;
  const int64_t next = static_cast<int64_t>(entry_.groups.size());
  line.Int("the group's number", next, next);
  Group& group = entry_.groups.emplace_back();
  line.Expect("(");
  while (line.ok() && !line.NextIs(")")) {
    if (!group.members.empty()) line.Expect(",");
    group.members.push_back(FindStream(line, false));
  }
  line.Expect(")");
}

void EntryParser::ReadChannel(PlanLine& line) {
  section_ = Section::kNone;
  const int64_t next = static_cast<int64_t>(entry_.channels.size());
  line.Int("the channel's number", next, next);
  Channel& channel = entry_.channels.emplace_back();
  channel.sender = FindStream(line, false);
  line.Expect("->");
  channel.receiver = FindStream(line, false);
  line.Expect("capacity");
  channel.capacity = line.Int("a capacity", 0, kMaxSmall);
  if (line.Take("slots")) channel.slots = FindBuffers(line, false);
}

void EntryParser::ReadProgram(PlanLine& line) {
  section_ = Section::kNone;
  open_.emplace();
  Program& program = open_->program;
  program.name = line.Name("a name");
  if (line.Take("buffers")) {
    program.num_buffer_slots = line.Int("a number of slots", 0, kMaxSmall);
  }
  if (line.Take("events")) {
    program.num_event_slots = line.Int("a number of slots", 0, kMaxSmall);
  }
  line.Expect("{");
  const int index = static_cast<int>(entry_.programs.size());
  if (line.ok() && !programs_.emplace(program.name, index).second) {
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
    invocation.micro_batch = line.Int("a micro-batch", 0, kMaxSmall);
  }
  if (line.Take("buffers")) invocation.buffers = FindBuffers(line, false);
  if (line.Take("events")) {
    line.Expect("(");
    while (line.ok() && !line.NextIs(")")) {
      if (!invocation.events.empty()) line.Expect(",");
      invocation.events.push_back(FindEvent(line, false));
    }
    line.Expect(")");
  }
  if (line.ok()) entry_.schedule.push_back(std::move(invocation));
}

void EntryParser::ReadCommand(PlanLine& line) {
  OpenProgram& open = open_.has_value() ? *open_ : main_;
  int64_t number = -1;
  if (line.NextIsInt()) {
    number = line.Int("a number", 0, std::numeric_limits<int32_t>::max());
  }
  Command command;
  bool known = false;
  for (int i = 0; i <= static_cast<int>(Command::Kind::kRecv); ++i) {
    const auto kind = static_cast<Command::Kind>(i);
    if (!line.Take(CommandKindName(kind))) continue;
    command.kind = kind;
    known = true;
    break;
  }
  if (!known) {
    line.FailNext(
        "expected kernel, copy, record, wait, feed, fetch, collective, send or "
        "recv");
  } else if (section_ != Section::kStream) {
    line.FailHere("found a command of no stream; expected a stream above it");
  }
  command.stream = stream_;
  ReadCommandParts(line, command);
  open.program.commands.push_back(std::move(command));
  open.numbers.push_back(number);
  open.places.push_back(absl::StripLeadingAsciiWhitespace(line.text()));
}

void EntryParser::ReadCommandParts(PlanLine& line, Command& command) {
  Instance& instance = command.instance;
  if (line.NextIsSigil('%')) instance.node = FindNode(line);
  if (line.Take("member")) instance.member = line.Int("a member", 0, kMaxSmall);
  if (line.Take("batch")) {
    instance.micro_batch = line.Int("a micro-batch", 0, kMaxSmall);
  }
  if (line.NextIs("(") || line.NextIsSigil('!') || line.NextIsSigil('$')) {
    command.operands = FindBuffers(line, true);
  }
  if (line.Take("->")) command.results = FindBuffers(line, true);
  if (line.Take("workspace")) command.workspace = FindBuffer(line, true);
  if (command.kind == Command::Kind::kRecord ||
      command.kind == Command::Kind::kWait) {
    command.event = FindEvent(line, true);
  }
  if (line.Take("input") || line.Take("output")) {
    command.port = line.Int("the port's number", 0, kMaxSmall);
  }
  if (line.Take("group")) {
    command.group = GroupId(line.Int("the group's number", 0, kMaxSmall));
  }
  if (line.Take("channel")) {
    command.channel = ChannelId(line.Int("the channel's number", 0, kMaxSmall));
  }
}

std::optional<Program> EntryParser::InLaunchOrder(OpenProgram open) {
  Program& program = open.program;
  const size_t count = program.commands.size();
  for (size_t i = 0; i < count; ++i) {
    CheckIds(open.places[i], program.commands[i]);
  }
  const bool numbered = count > 0 && open.numbers[0] >= 0;
  std::vector<int64_t> order(count, -1);
  for (size_t i = 0; i < count; ++i) {
    const int64_t number = open.numbers[i];
    if ((number >= 0) != numbered) {
      faults_.Report(open.places[i],
                     "found commands with and without numbers in one program; "
                     "expected numbers on all or none");
      return std::nullopt;
    }
    if (!numbered) continue;
    if (number >= static_cast<int64_t>(count) || order[number] >= 0) {
      faults_.Report(open.places[i],
                     absl::StrCat("found command number ", number,
                                  "; expected each of 0..", count - 1,
                                  " once in the program"));
      return std::nullopt;
    }
    order[number] = static_cast<int64_t>(i);
  }
  if (!numbered) return std::move(program);
  std::vector<Command> commands;
  for (int64_t i : order) commands.push_back(std::move(program.commands[i]));
  program.commands = std::move(commands);
  return std::move(program);
}

// Groups and channels may stand below the commands, so this comes last.
void EntryParser::CheckIds(absl::string_view place, const Command& command) {
  if (command.group.index >= static_cast<int64_t>(entry_.groups.size())) {
    faults_.Report(place, absl::StrCat("unknown group ", command.group.index));
  }
  if (command.channel.index >= static_cast<int64_t>(entry_.channels.size())) {
    faults_.Report(place,
                   absl::StrCat("unknown channel ", command.channel.index));
  }
  const size_t ports = command.kind == Command::Kind::kFetch
                           ? entry_.outputs.size()
                           : entry_.inputs.size();
  if (command.port >= static_cast<int64_t>(ports)) {
    faults_.Report(place,
                   absl::StrCat("unknown port ", command.port,
                                "; expected one of the entry's ", ports));
  }
}

void EntryParser::CloseProgram(PlanLine& line) {
  line.ExpectEnd();
  section_ = Section::kNone;
  std::optional<Program> program = InLaunchOrder(*std::move(open_));
  open_.reset();
  // Even a faulty one keeps its place, for the invocations that name it.
  entry_.programs.push_back(std::move(program).value_or(Program()));
}

void EntryParser::CloseEntry(PlanLine& line) {
  line.ExpectEnd();
  if (main_.program.commands.empty()) return;
  if (!entry_.programs.empty() || !entry_.schedule.empty()) {
    line.FailHere(
        "found commands in the entry itself and in programs; expected one or "
        "the other");
    return;
  }
  std::optional<Program> program = InLaunchOrder(std::move(main_));
  if (!program.has_value()) return;
  entry_.programs.push_back(*std::move(program));
  entry_.schedule.emplace_back();
}

DeviceId EntryParser::FindDevice(PlanLine& line) {
  const std::string name = line.Name("a device");
  const auto it = devices_.find(name);
  if (it != devices_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown device ", SpellName(name)));
  return DeviceId();
}

StreamId EntryParser::FindStream(PlanLine& line, bool declare) {
  const DeviceId device = FindDevice(line);
  line.Expect("/");
  const std::string name = line.Name("a stream of the device");
  if (!line.ok()) return StreamId();
  const auto it = streams_.find({device, name});
  if (it != streams_.end()) return it->second;
  if (!declare) {
    line.FailHere(absl::StrCat("unknown stream ", SpellName(name)));
    return StreamId();
  }
  const StreamId id(static_cast<int32_t>(entry_.streams.size()));
  entry_.streams.push_back({name, device});
  streams_.emplace(std::pair(device, name), id);
  return id;
}

NodeId EntryParser::FindNode(PlanLine& line) {
  const std::string name = line.Sigil('%', "a node's first result");
  if (!line.ok()) return NodeId();
  const auto it = nodes_.find(name);
  if (it != nodes_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown node ", SpellSigilName('%', name)),
                "expected the first result of a node of the entry's graph");
  return NodeId();
}

BufferId EntryParser::FindBuffer(PlanLine& line, bool slots) {
  if (slots && line.NextIsSigil('$')) {
    const int bound = open_.has_value() ? open_->program.num_buffer_slots : 0;
    const int64_t slot = line.SigilNumber('$', bound);
    return BufferId(static_cast<int32_t>(kFirstSlot + slot));
  }
  const std::string name = line.Sigil('!', "a buffer");
  if (!line.ok()) return BufferId();
  const auto it = buffers_.find(name);
  if (it != buffers_.end()) return it->second;
  line.FailHere(absl::StrCat("unknown buffer ", SpellSigilName('!', name)),
                "expected a buffer of the entry's arenas");
  return BufferId();
}

std::vector<BufferId> EntryParser::FindBuffers(PlanLine& line, bool slots) {
  if (!line.Take("(")) return {FindBuffer(line, slots)};
  std::vector<BufferId> buffers;
  while (line.ok() && !line.NextIs(")")) {
    if (!buffers.empty()) line.Expect(",");
    buffers.push_back(FindBuffer(line, slots));
  }
  line.Expect(")");
  return buffers;
}

EventId EntryParser::FindEvent(PlanLine& line, bool slots) {
  if (slots && open_.has_value() && open_->program.num_event_slots > 0 &&
      line.NextStartsWith("slot")) {
    return EventId(static_cast<int32_t>(
        kFirstSlot + line.Numbered("slot", open_->program.num_event_slots)));
  }
  const int64_t bound = events_given_ ? entry_.num_events : kMaxSmall;
  const int64_t event = line.Numbered("ev", bound);
  if (!line.ok()) return EventId();
  entry_.num_events = std::max(entry_.num_events, static_cast<int>(event) + 1);
  return EventId(static_cast<int32_t>(event));
}

}  // namespace partita
