// Writes out the commands that an entry's schedule invokes.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

// More than any schedule needs, and few enough to keep in memory: a small file
// must not ask for an unbounded list.
constexpr int64_t kMaxExpandedCommands = int64_t{1} << 22;

std::string Where(const Entry& entry, size_t invocation) {
  return absl::StrCat("entry @", entry.name, ": invocation ", invocation);
}

absl::Status NoSuchSlot(const Program& program, size_t command,
                        absl::string_view kind, int32_t slot, size_t bound) {
  return absl::InvalidArgumentError(
      absl::StrCat("program ", program.name, ": command ", command, ": found ",
                   kind, " slot ", slot, "; expected one of the ", bound,
                   " that the invocation binds"));
}

// Replaces the ids of one command that stand for slots.
class SlotBinder {
 public:
  SlotBinder(const Program& program, const Invocation& invocation)
      : program_(program), invocation_(invocation) {}

  absl::StatusOr<Command> Bind(size_t index) const {
    Command command = program_.commands[index];
    if (__builtin_add_overflow(command.instance.micro_batch,
                               invocation_.micro_batch,
                               &command.instance.micro_batch)) {
      return absl::InvalidArgumentError(
          absl::StrCat("program ", program_.name, ": command ", index,
                       ": found a micro-batch beyond every integer; expected a "
                       "small one"));
    }
    for (BufferId& id : command.operands) {
      PARTITA_RETURN_IF_ERROR(Bind(index, "buffer", invocation_.buffers, id));
    }
    for (BufferId& id : command.results) {
      PARTITA_RETURN_IF_ERROR(Bind(index, "buffer", invocation_.buffers, id));
    }
    PARTITA_RETURN_IF_ERROR(
        Bind(index, "buffer", invocation_.buffers, command.workspace));
    PARTITA_RETURN_IF_ERROR(
        Bind(index, "event", invocation_.events, command.event));
    return command;
  }

 private:
  template <typename Id>
  absl::Status Bind(size_t command, absl::string_view kind,
                    const std::vector<Id>& bound, Id& id) const {
    if (id.index < kFirstSlot) return absl::OkStatus();
    const int32_t slot = id.index - kFirstSlot;
    if (static_cast<size_t>(slot) >= bound.size()) {
      return NoSuchSlot(program_, command, kind, slot, bound.size());
    }
    id = bound[slot];
    return absl::OkStatus();
  }

  const Program& program_;
  const Invocation& invocation_;
};

template <typename Id>
absl::Status CheckBinding(const Entry& entry, size_t invocation,
                          absl::string_view kind, const std::vector<Id>& bound,
                          int wanted) {
  if (static_cast<int64_t>(bound.size()) != wanted) {
    return absl::InvalidArgumentError(absl::StrCat(
        Where(entry, invocation), ": found ", bound.size(), " ", kind,
        "s; expected one for each of the program's ", wanted, " slots"));
  }
  for (Id id : bound) {
    if (id.index >= kFirstSlot) {
      return absl::InvalidArgumentError(absl::StrCat(
          Where(entry, invocation), ": found ", kind == "event" ? "an " : "a ",
          kind, " slot; expected one of the entry's own ", kind, "s"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInvocation(const Entry& entry, size_t index) {
  const Invocation& invocation = entry.schedule[index];
  if (invocation.program < 0 ||
      static_cast<size_t>(invocation.program) >= entry.programs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Where(entry, index), ": found program ", invocation.program,
        "; expected one of the entry's ", entry.programs.size(), " programs"));
  }
  const Program& program = entry.programs[invocation.program];
  PARTITA_RETURN_IF_ERROR(CheckBinding(
      entry, index, "buffer", invocation.buffers, program.num_buffer_slots));
  return CheckBinding(entry, index, "event", invocation.events,
                      program.num_event_slots);
}

}  // namespace

absl::StatusOr<std::vector<Command>> Expand(const Entry& entry) {
  int64_t count = 0;
  for (size_t i = 0; i < entry.schedule.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckInvocation(entry, i));
    const Program& program = entry.programs[entry.schedule[i].program];
    count += static_cast<int64_t>(program.commands.size());
    if (count > kMaxExpandedCommands) {
      return absl::InvalidArgumentError(absl::StrCat(
          Where(entry, i), ": found more than ", kMaxExpandedCommands,
          " commands in one step; expected "
          "a schedule of fewer; lower the micro-batches"));
    }
  }
  std::vector<Command> commands;
  commands.reserve(static_cast<size_t>(count));
  for (const Invocation& invocation : entry.schedule) {
    const Program& program = entry.programs[invocation.program];
    const SlotBinder binder(program, invocation);
    for (size_t i = 0; i < program.commands.size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(Command command, binder.Bind(i));
      commands.push_back(std::move(command));
    }
  }
  return commands;
}

absl::string_view CommandKindName(Command::Kind kind) {
  switch (kind) {
    case Command::Kind::kKernel:
      return "kernel";
    case Command::Kind::kCopy:
      return "copy";
    case Command::Kind::kRecord:
      return "record";
    case Command::Kind::kWait:
      return "wait";
    case Command::Kind::kFeed:
      return "feed";
    case Command::Kind::kFetch:
      return "fetch";
    case Command::Kind::kCollective:
      return "collective";
    case Command::Kind::kSend:
      return "send";
    case Command::Kind::kRecv:
      break;
  }
  return "recv";
}

}  // namespace partita
