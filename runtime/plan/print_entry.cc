// Writes an entry of a plan as text.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/print_entry.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op_def.h"
#include "graph/text/names.h"
#include "runtime/plan/plan_line.h"

namespace partita {
namespace {

constexpr size_t kCommentColumn = 48;

std::string RangeText(const Range& range) {
  std::string text = absl::StrCat(range.offset, "  ", range.block);
  if (range.count != 1 || range.stride != 0) {
    absl::StrAppend(&text, " x ", range.count, " every ", range.stride);
  }
  return text;
}

// The program's commands by stream, in launch order.
std::map<StreamId, std::vector<int>> ByStream(const Program& program) {
  std::map<StreamId, std::vector<int>> streams;
  for (size_t i = 0; i < program.commands.size(); ++i) {
    streams[program.commands[i].stream].push_back(static_cast<int>(i));
  }
  return streams;
}

std::vector<std::string> ProgramNames(const Entry& entry) {
  std::vector<std::string> names;
  for (const Program& program : entry.programs) names.push_back(program.name);
  names = UniqueNames(names);
  for (std::string& name : names) name = SpellName(name);
  return names;
}

std::string Milliseconds(double seconds) {
  return absl::StrFormat("%.4g ms", seconds * 1e3);
}

}  // namespace

EntryPrinter::EntryPrinter(const Plan& plan, size_t index,
                           const PlanTextOptions& options, std::string& out)
    : plan_(plan),
      entry_(plan.entries[index]),
      options_(options),
      names_(plan, entry_),
      devices_(DeviceNames(plan)),
      programs_(ProgramNames(entry_)),
      out_(out) {
  if (!options.reasons || !plan.notes.has_value() ||
      index >= plan.notes->entries.size()) {
    return;
  }
  notes_ = &plan.notes->entries[index];
  for (const NodeNote& note : notes_->nodes) {
    reasons_.emplace(note.node, note.reason);
  }
}

void EntryPrinter::Line(int indent, std::string text,
                        const std::string& comment) {
  out_.append(indent, ' ');
  if (options_.comments && !comment.empty()) {
    const size_t width = indent + text.size() + 2;
    text.append(width < kCommentColumn ? kCommentColumn - width + 2 : 2, ' ');
    absl::StrAppend(&text, "// ", comment);
  }
  absl::StrAppend(&out_, text, "\n");
}

// Most plans: commands can stand in the entry, without a program around them.
bool EntryPrinter::HasOnlyMain() const {
  if (entry_.programs.size() != 1 || entry_.schedule.size() != 1 ||
      entry_.programs[0].commands.empty()) {
    return false;
  }
  const Program& program = entry_.programs[0];
  const Invocation& invocation = entry_.schedule[0];
  return program.name == "main" && program.num_buffer_slots == 0 &&
         program.num_event_slots == 0 && invocation.program == 0 &&
         invocation.micro_batch == 0 && invocation.buffers.empty() &&
         invocation.events.empty();
}

void EntryPrinter::Print() {
  std::string head = absl::StrCat("entry ", SpellSigilName('@', entry_.name));
  if (entry_.graph != nullptr) {
    absl::StrAppend(&head, " of ", SpellSigilName('@', entry_.graph->name()));
  }
  absl::StrAppend(&head, " depth ", entry_.depth, " events ", entry_.num_events,
                  " {");
  const std::string times =
      notes_ == nullptr
          ? ""
          : absl::StrCat(Milliseconds(notes_->step_seconds), " a step, bound ",
                         Milliseconds(notes_->bound_seconds));
  Line(2, head, times);
  if (HasOnlyMain()) FindLiveRanges();
  PrintPorts();
  PrintBuffers();
  PrintPersistent();
  PrintStreams();
  PrintGroups();
  PrintChannels();
  if (!HasOnlyMain()) {
    PrintPrograms();
    PrintSchedule();
  }
  Line(2, "}");
}

std::string EntryPrinter::Device(DeviceId id) const {
  const bool exists =
      id.valid() && static_cast<size_t>(id.index) < devices_.size();
  return exists ? devices_[id.index] : absl::StrCat("?", id.index);
}

void EntryPrinter::PrintPorts() {
  for (const Port& port : entry_.inputs) {
    Line(4, absl::StrCat("input ", SpellName(port.name), " ",
                         port.type.ToString()));
  }
  for (const Port& port : entry_.outputs) {
    Line(4, absl::StrCat("output ", SpellName(port.name), " ",
                         port.type.ToString()));
  }
}

void EntryPrinter::PrintBuffers() {
  for (size_t i = 0; i < entry_.buffers.size(); ++i) {
    const Buffer& buffer = entry_.buffers[i];
    if (i == 0 || buffer.device != entry_.buffers[i - 1].device) {
      Line(4, absl::StrCat("arena ", Device(buffer.device)));
    }
    Line(6,
         absl::StrCat(names_.buffer(BufferId(i)), "  ",
                      buffer.persistent ? "persistent  " : "",
                      RangeText(buffer.range)),
         Live(i));
  }
}

void EntryPrinter::FindLiveRanges() {
  live_.assign(entry_.buffers.size(), {-1, -1});
  const std::vector<Command>& commands = entry_.programs[0].commands;
  for (size_t i = 0; i < commands.size(); ++i) {
    auto touch = [&](BufferId id) {
      if (!id.valid() || static_cast<size_t>(id.index) >= live_.size()) return;
      auto& [first, last] = live_[id.index];
      if (first < 0) first = static_cast<int>(i);
      last = static_cast<int>(i);
    };
    for (BufferId id : commands[i].operands) touch(id);
    for (BufferId id : commands[i].results) touch(id);
    touch(commands[i].workspace);
  }
}

std::string EntryPrinter::Live(size_t buffer) const {
  if (live_.empty() || entry_.buffers[buffer].persistent) return "";
  const auto [first, last] = live_[buffer];
  if (first < 0) return "not touched";
  return absl::StrCat("live ", first, "..", last);
}

void EntryPrinter::PrintPersistent() {
  if (!entry_.persistent.empty()) Line(4, "persistent");
  for (const PersistentValue& value : entry_.persistent) {
    std::string text = absl::StrCat(names_.buffer(value.buffer), " = ",
                                    names_.node(value.node));
    if (value.member != 0) absl::StrAppend(&text, " member ", value.member);
    const LiteralPool& literals = plan_.module.literals();
    if (!value.initial.valid()) {
      absl::StrAppend(&text, " initial none");
    } else if (value.initial.index < literals.size()) {
      absl::StrAppend(&text, " initial ",
                      literals.type(value.initial).ToString(), " #",
                      literals.hash(value.initial).ToString());
    } else {
      absl::StrAppend(&text, " initial ?", value.initial.index);
    }
    Line(6, text);
  }
}

void EntryPrinter::PrintStreams() {
  std::map<StreamId, std::vector<int>> commands;
  if (HasOnlyMain()) {
    FindRecords(entry_.programs[0]);
    commands = ByStream(entry_.programs[0]);
  }
  for (size_t i = 0; i < entry_.streams.size(); ++i) commands[StreamId(i)];
  for (const auto& [stream, indices] : commands) {
    Line(4, absl::StrCat("stream ", names_.stream(stream)));
    if (indices.empty()) continue;
    PrintCommands(entry_.programs[0], indices, 6);
  }
}

void EntryPrinter::PrintGroups() {
  for (size_t i = 0; i < entry_.groups.size(); ++i) {
    std::vector<std::string> members;
    for (StreamId id : entry_.groups[i].members) {
      members.push_back(names_.stream(id));
    }
    Line(4, absl::StrCat("group ", i, " (", absl::StrJoin(members, ", "), ")"));
  }
}

void EntryPrinter::PrintChannels() {
  for (size_t i = 0; i < entry_.channels.size(); ++i) {
    const Channel& channel = entry_.channels[i];
    std::string text = absl::StrCat(
        "channel ", i, " ", names_.stream(channel.sender), " -> ",
        names_.stream(channel.receiver), " capacity ", channel.capacity);
    if (!channel.slots.empty()) {
      absl::StrAppend(&text, " slots ", Buffers(channel.slots, true));
    }
    Line(4, text);
  }
}

void EntryPrinter::PrintPrograms() {
  for (size_t i = 0; i < entry_.programs.size(); ++i) {
    const Program& program = entry_.programs[i];
    std::string head = absl::StrCat("program ", programs_[i]);
    if (program.num_buffer_slots != 0) {
      absl::StrAppend(&head, " buffers ", program.num_buffer_slots);
    }
    if (program.num_event_slots != 0) {
      absl::StrAppend(&head, " events ", program.num_event_slots);
    }
    Line(4, absl::StrCat(head, " {"));
    FindRecords(program);
    for (const auto& [stream, indices] : ByStream(program)) {
      Line(6, absl::StrCat("stream ", names_.stream(stream)));
      PrintCommands(program, indices, 8);
    }
    Line(4, "}");
  }
}

void EntryPrinter::PrintSchedule() {
  Line(4, "schedule");
  for (const Invocation& invocation : entry_.schedule) {
    const bool exists =
        invocation.program >= 0 &&
        static_cast<size_t>(invocation.program) < programs_.size();
    std::string text =
        absl::StrCat("invoke ", exists ? programs_[invocation.program]
                                       : absl::StrCat("?", invocation.program));
    if (invocation.micro_batch != 0) {
      absl::StrAppend(&text, " batch ", invocation.micro_batch);
    }
    if (!invocation.buffers.empty()) {
      absl::StrAppend(&text, " buffers ", Buffers(invocation.buffers, true));
    }
    if (!invocation.events.empty()) {
      std::vector<std::string> events;
      for (EventId id : invocation.events) events.push_back(names_.event(id));
      absl::StrAppend(&text, " events (", absl::StrJoin(events, ", "), ")");
    }
    Line(6, text);
  }
}

void EntryPrinter::PrintCommands(const Program& program,
                                 const std::vector<int>& commands, int indent) {
  const size_t width = absl::StrCat(program.commands.size() - 1).size();
  for (int i : commands) {
    std::string number = absl::StrCat(i);
    number.resize(width, ' ');
    Line(indent, absl::StrCat(number, "  ", CommandText(program.commands[i])),
         Comment(program, i));
  }
}

std::string EntryPrinter::Buffers(const std::vector<BufferId>& ids,
                                  bool parens) const {
  std::vector<std::string> names;
  for (BufferId id : ids) names.push_back(names_.buffer(id));
  const std::string list = absl::StrJoin(names, ", ");
  return parens || ids.size() != 1 ? absl::StrCat("(", list, ")") : list;
}

std::string EntryPrinter::CommandText(const Command& command) const {
  std::string text(CommandKindName(command.kind));
  const Instance& instance = command.instance;
  if (instance.node.valid()) {
    absl::StrAppend(&text, " ", names_.node(instance.node));
  }
  if (instance.member != 0) {
    absl::StrAppend(&text, " member ", instance.member);
  }
  if (instance.micro_batch != 0) {
    absl::StrAppend(&text, " batch ", instance.micro_batch);
  }
  if (!command.operands.empty()) {
    absl::StrAppend(
        &text, " ",
        Buffers(command.operands, command.kind == Command::Kind::kKernel));
  }
  if (!command.results.empty()) {
    absl::StrAppend(&text, " -> ", Buffers(command.results, false));
  }
  if (command.workspace.valid()) {
    absl::StrAppend(&text, " workspace ", names_.buffer(command.workspace));
  }
  if (command.event.valid()) {
    absl::StrAppend(&text, " ", names_.event(command.event));
  }
  if (command.port >= 0) {
    absl::StrAppend(
        &text, command.kind == Command::Kind::kFetch ? " output " : " input ",
        command.port);
  }
  if (command.group.valid()) {
    absl::StrAppend(&text, " group ", command.group.index);
  }
  if (command.channel.valid()) {
    absl::StrAppend(&text, " channel ", command.channel.index);
  }
  return text;
}

std::string EntryPrinter::KernelOf(NodeId id) const {
  const bool exists = entry_.graph != nullptr && id.valid() &&
                      id.index < entry_.graph->node_id_bound() &&
                      entry_.graph->alive(id);
  if (!exists) return "";
  const Node& node = entry_.graph->node(id);
  return node.kernel.has_value() ? node.kernel->kernel
                                 : std::string(node.op->name);
}

std::string EntryPrinter::ReasonOf(NodeId node) const {
  const auto it = reasons_.find(node);
  return it == reasons_.end() ? "" : it->second;
}

void EntryPrinter::FindRecords(const Program& program) {
  records_.clear();
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    if (command.kind != Command::Kind::kRecord) continue;
    records_.emplace(command.event, static_cast<int>(i));
  }
}

// What a command is about, beyond its own words.
std::string EntryPrinter::Subject(const Program& program,
                                  const Command& command) const {
  const auto port_name = [&](const std::vector<Port>& ports) {
    return command.port >= 0 && static_cast<size_t>(command.port) < ports.size()
               ? SpellName(ports[command.port].name)
               : "";
  };
  switch (command.kind) {
    case Command::Kind::kFeed:
      return port_name(entry_.inputs);
    case Command::Kind::kFetch:
      return port_name(entry_.outputs);
    case Command::Kind::kWait: {
      const auto it = records_.find(command.event);
      if (it == records_.end()) return "";
      return absl::StrCat("for ", it->second, " on ",
                          names_.stream(program.commands[it->second].stream));
    }
    case Command::Kind::kKernel:
    case Command::Kind::kCollective:
      return KernelOf(command.instance.node);
    default:
      return "";
  }
}

// Only of the program whose commands are numbered as the step's are.
std::string EntryPrinter::Predicted(const Program& program,
                                    size_t index) const {
  if (notes_ == nullptr || !HasOnlyMain() ||
      index >= notes_->predicted.size()) {
    return "";
  }
  const CommandNote& note = notes_->predicted[index];
  return absl::StrCat(Milliseconds(note.start_seconds), " .. ",
                      Milliseconds(note.end_seconds));
}

std::string EntryPrinter::Comment(const Program& program, size_t index) const {
  const Command& command = program.commands[index];
  std::vector<std::string> parts = {Subject(program, command),
                                    ReasonOf(command.instance.node),
                                    Predicted(program, index)};
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return absl::StrJoin(parts, "; ");
}

}  // namespace partita
