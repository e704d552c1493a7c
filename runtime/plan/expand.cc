// Expands an entry's schedule into commands.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

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

// Replaces the ids of one command that name slots.
class SlotBinder {
 public:
  SlotBinder(const Program& program, const Invocation& invocation)
      : program_(program), invocation_(invocation) {}

  absl::StatusOr<Command> Bind(size_t index) const {
    Command command = program_.commands[index];
    if (__builtin_add_overflow(command.instance.micro_batch.index,
                               invocation_.micro_batch.index,
                               &command.instance.micro_batch.index)) {
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
  const ProgramId id = invocation.program;
  if (!id.valid() || static_cast<size_t>(id.index) >= entry.programs.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Where(entry, index), ": found program ", id.index,
        "; expected one of the entry's ", entry.programs.size(), " programs"));
  }
  const Program& program = entry.programs[id.index];
  PARTITA_RETURN_IF_ERROR(CheckBinding(
      entry, index, "buffer", invocation.buffers, program.num_buffer_slots));
  return CheckBinding(entry, index, "event", invocation.events,
                      program.num_event_slots);
}

// The number of commands and of the buffers that they name.
int64_t SizeOf(const Program& program) {
  size_t size = program.commands.size();
  for (const Command& command : program.commands) {
    size += command.operands.size() + command.results.size();
  }
  return static_cast<int64_t>(size);
}

// The size of the entry's programs and schedule.
int64_t StatedSize(const Entry& entry, const std::vector<int64_t>& programs) {
  int64_t size = 0;
  for (const int64_t program : programs) size += program;
  for (const Invocation& invocation : entry.schedule) {
    size += 1 + invocation.buffers.size() + invocation.events.size();
  }
  return size;
}

// A small file must not expand to an endless list of commands.
absl::Status CheckExpansion(const Entry& entry) {
  std::vector<int64_t> sizes;
  for (const Program& program : entry.programs) {
    sizes.push_back(SizeOf(program));
  }
  const int64_t most =
      kFreeExpansion + kMaxExpansion * StatedSize(entry, sizes);
  int64_t commands = 0, size = 0;
  for (size_t i = 0; i < entry.schedule.size(); ++i) {
    const int program = entry.schedule[i].program.index;
    commands += static_cast<int64_t>(entry.programs[program].commands.size());
    size += sizes[program];
    if (commands > kMaxExpandedCommands) {
      return absl::InvalidArgumentError(absl::StrCat(
          Where(entry, i), ": found more than ", kMaxExpandedCommands,
          " commands in one step; expected a schedule of fewer; lower the "
          "micro-batches"));
    }
    if (size <= most / std::max(1, entry.depth)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        Where(entry, i), ": found more than ", most,
        " commands and buffers of commands in the ", entry.depth,
        entry.depth == 1 ? " step" : " steps that overlap",
        "; expected at most ", kFreeExpansion, ", and ", kMaxExpansion,
        " for each that the programs and the schedule state; lower the "
        "micro-batches or the depth"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandList> Expand(const Entry& entry) {
  size_t count = 0;
  for (size_t i = 0; i < entry.schedule.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckInvocation(entry, i));
    count += entry.programs[entry.schedule[i].program.index].commands.size();
  }
  PARTITA_RETURN_IF_ERROR(CheckExpansion(entry));
  CommandList commands;
  commands.reserve(count);
  for (const Invocation& invocation : entry.schedule) {
    const Program& program = entry.programs[invocation.program.index];
    const SlotBinder binder(program, invocation);
    for (size_t i = 0; i < program.commands.size(); ++i) {
      PARTITA_ASSIGN_OR_RETURN(Command command, binder.Bind(i));
      commands.Add(std::move(command));
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
