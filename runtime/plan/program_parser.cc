// Parses command lines and orders the commands.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/program_parser.h"

#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

std::optional<Command::Kind> TakeKind(PlanLine& line) {
  for (int i = 0; i <= static_cast<int>(Command::Kind::kRecv); ++i) {
    const auto kind = static_cast<Command::Kind>(i);
    if (line.Take(CommandKindName(kind))) return kind;
  }
  line.FailNext(
      "expected kernel, copy, record, wait, feed, fetch, collective, send or "
      "recv");
  return std::nullopt;
}

// Checks that groups, channels and ports exist. They may be declared after the
// commands, so this runs last.
void CheckIds(absl::string_view place, const Command& command,
              const Entry& entry, Diagnostics& faults) {
  if (command.group.index >= static_cast<int64_t>(entry.groups.size())) {
    faults.Report(place, absl::StrCat("unknown group ", command.group.index));
  }
  if (command.channel.index >= static_cast<int64_t>(entry.channels.size())) {
    faults.Report(place,
                  absl::StrCat("unknown channel ", command.channel.index));
  }
  const size_t ports = command.kind == Command::Kind::kFetch
                           ? entry.outputs.size()
                           : entry.inputs.size();
  if (command.port >= static_cast<int64_t>(ports)) {
    faults.Report(place, absl::StrCat("unknown port ", command.port,
                                      "; expected one of the entry's ", ports));
  }
}

}  // namespace

ProgramParser ProgramParser::Open(PlanLine& line) {
  ProgramParser parser(line.Name("a name"));
  if (line.Take("buffers")) {
    parser.program_.num_buffer_slots =
        line.Int("a number of slots", 0, kMaxPlanNumber);
  }
  if (line.Take("events")) {
    parser.program_.num_event_slots =
        line.Int("a number of slots", 0, kMaxPlanNumber);
  }
  line.Expect("{");
  return parser;
}

void ProgramParser::ReadCommand(PlanLine& line, std::optional<StreamId> stream,
                                EntryScope& scope) {
  int64_t number = -1;
  if (line.NextIsInt()) {
    number = line.Int("a number", 0, std::numeric_limits<int32_t>::max());
  }
  Command command;
  const std::optional<Command::Kind> kind = TakeKind(line);
  if (kind.has_value() && !stream.has_value()) {
    line.FailHere(
        "found a command without a stream; expected a stream above it");
  }
  command.kind = kind.value_or(Command::Kind::kKernel);
  command.stream = stream.value_or(StreamId());
  ReadParts(line, command, scope);
  written_.push_back({std::move(command), number,
                      absl::StripLeadingAsciiWhitespace(line.text())});
}

void ProgramParser::ReadParts(PlanLine& line, Command& command,
                              EntryScope& scope) const {
  Instance& instance = command.instance;
  if (line.NextIsSigil('%')) instance.node = scope.FindNode(line);
  if (line.Take("rank")) instance.rank = line.Int("a rank", 0, kMaxPlanNumber);
  if (line.Take("batch")) {
    instance.micro_batch =
        MicroBatchId(line.Int("a micro-batch", 0, kMaxPlanNumber));
  }
  if (line.NextIs("(") || line.NextIsSigil('!') || line.NextIsSigil('$')) {
    command.operands = scope.FindBuffers(line, &program_);
  }
  if (line.Take("->")) command.results = scope.FindBuffers(line, &program_);
  if (line.Take("workspace")) {
    command.workspace = scope.FindBuffer(line, &program_);
  }
  if (command.kind == Command::Kind::kRecord ||
      command.kind == Command::Kind::kWait) {
    command.event = scope.FindEvent(line, &program_);
  }
  ReadNumbers(line, command);
}

void ProgramParser::ReadNumbers(PlanLine& line, Command& command) const {
  if (line.Take("input") || line.Take("output")) {
    command.port = line.Int("the port's number", 0, kMaxPlanNumber);
  }
  if (line.Take("group")) {
    command.group = GroupId(line.Int("the group's number", 0, kMaxPlanNumber));
  }
  if (line.Take("channel")) {
    command.channel =
        ChannelId(line.Int("the channel's number", 0, kMaxPlanNumber));
  }
}

std::optional<Program> ProgramParser::Take(const Entry& entry,
                                           Diagnostics& faults) {
  for (const Written& written : written_) {
    CheckIds(written.place, written.command, entry, faults);
  }
  if (!NumbersAgree(faults)) return std::nullopt;
  absl::c_stable_sort(written_, [](const Written& a, const Written& b) {
    return a.number < b.number;
  });
  for (Written& written : written_) {
    program_.commands.push_back(std::move(written.command));
  }
  written_.clear();
  return std::move(program_);
}

// Either all commands have numbers, each number once, or none has.
bool ProgramParser::NumbersAgree(Diagnostics& faults) const {
  const int64_t count = static_cast<int64_t>(written_.size());
  std::vector<bool> taken(count);
  for (const Written& written : written_) {
    if ((written.number >= 0) != (written_[0].number >= 0)) {
      faults.Report(written.place,
                    "found commands with and without numbers in one program; "
                    "expected numbers on all or none; leave them all out, or "
                    "number all anew");
      return false;
    }
    if (written.number < 0) continue;
    if (written.number >= count || taken[written.number]) {
      faults.Report(written.place,
                    absl::StrCat("found command number ", written.number,
                                 "; expected each of 0..", count - 1,
                                 " once in the program; number the commands "
                                 "anew, or leave all their numbers out"));
      return false;
    }
    taken[written.number] = true;
  }
  return true;
}

}  // namespace partita
