// Prints an entry of a plan as text.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/print_entry.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/command_places.h"
#include "runtime/plan/plan_line.h"

namespace partita {
namespace {

std::string RangeText(const Range& range) {
  std::string text = absl::StrCat(range.offset, "  ", range.block);
  if (range.count != 1 || range.stride != 0) {
    absl::StrAppend(&text, " x ", range.count, " every ", range.stride);
  }
  return text;
}

// By buffer: the first and last command of the program that access it.
std::vector<std::string> LiveRanges(const Entry& entry,
                                    const Program& program) {
  std::vector<std::pair<int, int>> live(entry.buffers.size(), {-1, -1});
  for (size_t i = 0; i < program.commands.size(); ++i) {
    const auto access = [&](BufferId id) {
      if (!id.valid() || static_cast<size_t>(id.index) >= live.size()) return;
      auto& [first, last] = live[id.index];
      if (first < 0) first = static_cast<int>(i);
      last = static_cast<int>(i);
    };
    for (BufferId id : program.commands[i].operands) access(id);
    for (BufferId id : program.commands[i].results) access(id);
    access(program.commands[i].workspace);
  }
  std::vector<std::string> texts;
  for (const auto& [first, last] : live) {
    texts.push_back(first < 0 ? "not accessed"
                              : absl::StrCat("live ", first, "..", last));
  }
  return texts;
}

}  // namespace

EntryPrinter::EntryPrinter(const Plan& plan, size_t index,
                           const PlanTextOptions& options, std::string& out)
    : plan_(plan),
      entry_(plan.entries[index]),
      names_(plan, entry_),
      devices_(DeviceNames(plan)),
      programs_(ProgramNames(entry_)),
      lines_(options.comments, out) {
  if (!options.reasons || !plan.notes.has_value() ||
      index >= plan.notes->entries.size()) {
    return;
  }
  notes_ = &plan.notes->entries[index];
  for (const NodeNote& note : notes_->nodes) {
    command_notes_.reasons.emplace(note.node, note.reason);
  }
  // Predictions are by command of the step, which are those of the only
  // program.
  if (HasOnlyMain(entry_)) command_notes_.predicted = notes_->predicted;
}

void EntryPrinter::Print() {
  PrintHead();
  PrintPorts("input ", entry_.inputs);
  PrintPorts("output ", entry_.outputs);
  PrintBuffers();
  PrintPersistent();
  PrintStreams();
  PrintGroups();
  PrintChannels();
  if (!HasOnlyMain(entry_)) {
    PrintPrograms();
    PrintSchedule();
  }
  lines_.Add(2, "}");
}

void EntryPrinter::PrintHead() {
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
  lines_.Add(2, head, times);
}

std::string EntryPrinter::Device(DeviceId id) const {
  const bool exists =
      id.valid() && static_cast<size_t>(id.index) < devices_.size();
  return exists ? devices_[id.index] : absl::StrCat("?", id.index);
}

void EntryPrinter::PrintPorts(absl::string_view word,
                              const std::vector<Port>& ports) {
  for (const Port& port : ports) {
    lines_.Add(
        4, absl::StrCat(word, SpellName(port.name), " ", port.type.ToString()));
  }
}

void EntryPrinter::PrintBuffers() {
  std::vector<std::string> live(entry_.buffers.size());
  if (HasOnlyMain(entry_)) live = LiveRanges(entry_, entry_.programs[0]);
  for (size_t i = 0; i < entry_.buffers.size(); ++i) {
    const Buffer& buffer = entry_.buffers[i];
    if (i == 0 || buffer.device != entry_.buffers[i - 1].device) {
      lines_.Add(4, absl::StrCat("arena ", Device(buffer.device)));
    }
    lines_.Add(6,
               absl::StrCat(names_.buffer(BufferId(i)), "  ",
                            buffer.persistent ? "persistent  " : "",
                            RangeText(buffer.range)),
               buffer.persistent ? "" : live[i]);
  }
}

void EntryPrinter::PrintPersistent() {
  if (!entry_.persistent.empty()) lines_.Add(4, "persistent");
  for (const PersistentValue& value : entry_.persistent) {
    std::string text = absl::StrCat(names_.buffer(value.buffer), " = ",
                                    names_.node(value.node));
    if (value.rank != 0) absl::StrAppend(&text, " rank ", value.rank);
    lines_.Add(6, absl::StrCat(text, " initial ", Initial(value)));
  }
}

std::string EntryPrinter::Initial(const PersistentValue& value) const {
  const LiteralPool& literals = plan_.module.literals();
  if (!value.initial.valid()) return "none";
  if (value.initial.index >= literals.size()) {
    return absl::StrCat("?", value.initial.index);
  }
  return absl::StrCat(literals.type(value.initial).ToString(), " #",
                      literals.hash(value.initial).ToString());
}

ProgramPrinter EntryPrinter::PrinterOf(const Program& program) {
  return ProgramPrinter(program, entry_, names_, command_notes_, lines_);
}

// Prints all streams of the entry, and the commands if there is one program.
void EntryPrinter::PrintStreams() {
  std::map<StreamId, std::vector<int>> commands;
  std::optional<ProgramPrinter> main;
  if (HasOnlyMain(entry_)) {
    main.emplace(PrinterOf(entry_.programs[0]));
    commands = main->ByStream();
  }
  for (size_t i = 0; i < entry_.streams.size(); ++i) commands[StreamId(i)];
  for (const auto& [stream, indices] : commands) {
    lines_.Add(4, absl::StrCat("stream ", names_.stream(stream)));
    if (!indices.empty()) main->Print(indices, 6);
  }
}

void EntryPrinter::PrintGroups() {
  for (size_t i = 0; i < entry_.groups.size(); ++i) {
    std::vector<std::string> ranks;
    for (StreamId id : entry_.groups[i].ranks) {
      ranks.push_back(names_.stream(id));
    }
    lines_.Add(
        4, absl::StrCat("group ", i, " (", absl::StrJoin(ranks, ", "), ")"));
  }
}

void EntryPrinter::PrintChannels() {
  for (size_t i = 0; i < entry_.channels.size(); ++i) {
    const Channel& channel = entry_.channels[i];
    std::string text = absl::StrCat(
        "channel ", i, " ", names_.stream(channel.sender), " -> ",
        names_.stream(channel.receiver), " capacity ", channel.capacity);
    if (!channel.slots.empty()) {
      absl::StrAppend(&text, " slots ", names_.buffers(channel.slots));
    }
    lines_.Add(4, text);
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
    lines_.Add(4, absl::StrCat(head, " {"));
    const ProgramPrinter printer = PrinterOf(program);
    for (const auto& [stream, indices] : printer.ByStream()) {
      lines_.Add(6, absl::StrCat("stream ", names_.stream(stream)));
      printer.Print(indices, 8);
    }
    lines_.Add(4, "}");
  }
}

std::string EntryPrinter::ProgramName(ProgramId program) const {
  const bool exists =
      program.valid() && static_cast<size_t>(program.index) < programs_.size();
  return exists ? programs_[program.index] : absl::StrCat("?", program.index);
}

void EntryPrinter::PrintSchedule() {
  lines_.Add(4, "schedule");
  size_t first = 0;
  for (size_t i = 0; i < entry_.schedule.size(); ++i) {
    const Invocation& invocation = entry_.schedule[i];
    std::string text = absl::StrCat("invoke ", ProgramName(invocation.program));
    if (invocation.micro_batch != kFirstMicroBatch) {
      absl::StrAppend(&text, " batch ", invocation.micro_batch.index);
    }
    if (!invocation.buffers.empty()) {
      absl::StrAppend(&text, " buffers ", names_.buffers(invocation.buffers));
    }
    if (!invocation.events.empty()) {
      absl::StrAppend(&text, " events ", names_.events(invocation.events));
    }
    lines_.Add(6, text, InvocationNote(i, first));
    first += NumCommands(invocation.program);
  }
}

size_t EntryPrinter::NumCommands(ProgramId program) const {
  const bool exists = program.valid() && static_cast<size_t>(program.index) <
                                             entry_.programs.size();
  return exists ? entry_.programs[program.index].commands.size() : 0;
}

// The invocation's number in messages, and the numbers of its commands in
// traces.
std::string EntryPrinter::InvocationNote(size_t index, size_t first) const {
  const size_t count = NumCommands(entry_.schedule[index].program);
  std::string note = absl::StrCat("invocation ", index);
  if (count > 0) {
    absl::StrAppend(&note, ": ", first, "..", first + count - 1,
                    " of the step");
  }
  return note;
}

}  // namespace partita
