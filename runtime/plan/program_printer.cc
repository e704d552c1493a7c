// Prints a command and the comment after it.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/program_printer.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/plan_line.h"

namespace partita {

std::string Milliseconds(double seconds) {
  return absl::StrFormat("%.4g ms", seconds * 1e3);
}

ProgramPrinter::ProgramPrinter(const Program& program, const Entry& entry,
                               const EntryNames& names,
                               const CommandNotes& notes, TextLines& lines)
    : program_(program),
      entry_(entry),
      names_(names),
      notes_(notes),
      lines_(lines) {
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const Command& command = program.commands[i];
    if (command.kind != Command::Kind::kRecord) continue;
    records_.emplace(command.event, static_cast<int>(i));
  }
}

std::map<StreamId, std::vector<int>> ProgramPrinter::ByStream() const {
  std::map<StreamId, std::vector<int>> streams;
  for (size_t i = 0; i < program_.commands.size(); ++i) {
    streams[program_.commands[i].stream].push_back(static_cast<int>(i));
  }
  return streams;
}

void ProgramPrinter::Print(const std::vector<int>& commands, int indent) const {
  const size_t width = absl::StrCat(program_.commands.size() - 1).size();
  for (int i : commands) {
    std::string number = absl::StrCat(i);
    number.resize(width, ' ');
    lines_.Add(indent, absl::StrCat(number, "  ", Text(program_.commands[i])),
               Comment(i));
  }
}

std::string ProgramPrinter::Text(const Command& command) const {
  std::string text(CommandKindName(command.kind));
  const Instance& instance = command.instance;
  if (instance.node.valid()) {
    absl::StrAppend(&text, " ", names_.node(instance.node));
  }
  if (instance.rank != 0) {
    absl::StrAppend(&text, " rank ", instance.rank);
  }
  if (instance.micro_batch != kFirstMicroBatch) {
    absl::StrAppend(&text, " batch ", instance.micro_batch.index);
  }
  return text + Parts(command);
}

// Only kernels have parentheses around a single buffer.
std::string ProgramPrinter::Buffers(const std::vector<BufferId>& ids) const {
  return ids.size() == 1 ? names_.buffer(ids[0]) : names_.buffers(ids);
}

// The buffers, event, port, group or channel of the command.
std::string ProgramPrinter::Parts(const Command& command) const {
  const bool kernel = command.kind == Command::Kind::kKernel;
  const bool fetch = command.kind == Command::Kind::kFetch;
  std::string text;
  if (!command.operands.empty()) {
    absl::StrAppend(
        &text, " ",
        kernel ? names_.buffers(command.operands) : Buffers(command.operands));
  }
  if (!command.results.empty()) {
    absl::StrAppend(&text, " -> ", Buffers(command.results));
  }
  if (command.workspace.valid()) {
    absl::StrAppend(&text, " workspace ", names_.buffer(command.workspace));
  }
  if (command.event.valid()) {
    absl::StrAppend(&text, " ", names_.event(command.event));
  }
  if (command.port >= 0) {
    absl::StrAppend(&text, fetch ? " output " : " input ", command.port);
  }
  if (command.group.valid()) {
    absl::StrAppend(&text, " group ", command.group.index);
  }
  if (command.channel.valid()) {
    absl::StrAppend(&text, " channel ", command.channel.index);
  }
  return text;
}

std::string ProgramPrinter::Comment(size_t index) const {
  const Command& command = program_.commands[index];
  std::vector<std::string> parts = {
      Subject(command), ReasonOf(command.instance.node), Predicted(index)};
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return absl::StrJoin(parts, "; ");
}

// The comment of a command.
std::string ProgramPrinter::Subject(const Command& command) const {
  switch (command.kind) {
    case Command::Kind::kFeed:
    case Command::Kind::kFetch:
      return PortName(command);
    case Command::Kind::kWait:
      return Recorder(command.event);
    case Command::Kind::kKernel:
      return KernelOf(command.instance.node);
    case Command::Kind::kCollective:
      return CollectiveText(command.instance.node);
    default:
      return "";
  }
}

std::string ProgramPrinter::PortName(const Command& command) const {
  const std::vector<Port>& ports =
      command.kind == Command::Kind::kFetch ? entry_.outputs : entry_.inputs;
  return command.port >= 0 && static_cast<size_t>(command.port) < ports.size()
             ? SpellName(ports[command.port].name)
             : "";
}

std::string ProgramPrinter::Recorder(EventId event) const {
  const auto it = records_.find(event);
  if (it == records_.end()) return "";
  return absl::StrCat("for ", it->second, " on ",
                      names_.stream(program_.commands[it->second].stream));
}

bool ProgramPrinter::Exists(NodeId id) const {
  return entry_.graph != nullptr && id.valid() &&
         id.index < entry_.graph->node_id_bound() && entry_.graph->alive(id);
}

std::string ProgramPrinter::CollectiveText(NodeId id) const {
  if (!Exists(id)) return "";
  const std::optional<CollectiveKind> kind =
      CollectiveOf(entry_.graph->view(id));
  return kind.has_value() ? std::string(CollectiveName(*kind)) : KernelOf(id);
}

std::string ProgramPrinter::KernelOf(NodeId id) const {
  if (!Exists(id)) return "";
  const Node& node = entry_.graph->node(id);
  return node.kernel.has_value() ? node.kernel->kernel.ToString()
                                 : std::string(node.op->name);
}

std::string ProgramPrinter::ReasonOf(NodeId node) const {
  const auto it = notes_.reasons.find(node);
  return it == notes_.reasons.end() ? "" : it->second;
}

std::string ProgramPrinter::Predicted(size_t index) const {
  if (index >= notes_.predicted.size()) return "";
  const CommandNote& note = notes_.predicted[index];
  return absl::StrCat(Milliseconds(note.start_seconds), " .. ",
                      Milliseconds(note.end_seconds));
}

}  // namespace partita
