// Finds the invocation of a command.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/command_places.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/plan_names.h"

namespace partita {
namespace {

std::string Spelled(EventId event) { return absl::StrCat("ev", event.index); }

}  // namespace

bool HasOnlyMain(const Entry& entry) {
  if (entry.programs.size() != 1 || entry.schedule.size() != 1 ||
      entry.programs[0].commands.empty()) {
    return false;
  }
  const Program& program = entry.programs[0];
  const Invocation& invocation = entry.schedule[0];
  return program.name == "main" && program.num_buffer_slots == 0 &&
         program.num_event_slots == 0 && invocation.program == ProgramId(0) &&
         invocation.micro_batch == kFirstMicroBatch &&
         invocation.buffers.empty() && invocation.events.empty();
}

CommandPlaces::CommandPlaces(const Entry& entry) : entry_(&entry) {
  if (HasOnlyMain(entry)) return;
  names_ = ProgramNames(entry);
  invoked_.resize(entry.programs.size());
  CommandId first(0);
  for (const Invocation& invocation : entry.schedule) {
    firsts_.push_back(first);
    ++invoked_[invocation.program.index];
    first.index += static_cast<int>(
        entry.programs[invocation.program.index].commands.size());
  }
}

CommandPlaces::Place CommandPlaces::Of(CommandId command) const {
  // Of several invocations that begin here, only the last has commands.
  const auto next = absl::c_upper_bound(firsts_, command);
  if (next == firsts_.begin()) return {nullptr, command.index};
  const auto i = next - firsts_.begin() - 1;
  return {&entry_->schedule[i], command.index - firsts_[i].index};
}

std::string CommandPlaces::Text(CommandId command) const {
  const auto [invocation, number] = Of(command);
  if (invocation == nullptr) return absl::StrCat("command ", number);
  return absl::StrCat(
      "command ", number, " of program ", names_[invocation->program.index],
      " (invocation ", invocation - entry_->schedule.data(),
      invocation->micro_batch == kFirstMicroBatch
          ? ""
          : absl::StrCat(", batch ", invocation->micro_batch.index),
      ")");
}

std::string CommandPlaces::EventText(CommandId command) const {
  const auto [invocation, number] = Of(command);
  const int program = invocation == nullptr ? 0 : invocation->program.index;
  const EventId written = entry_->programs[program].commands[number].event;
  if (written.index < kFirstSlot) return Spelled(written);
  const int slot = written.index - kFirstSlot;
  return absl::StrCat("slot", slot, " (", Spelled(invocation->events[slot]),
                      ")");
}

std::optional<std::string> CommandPlaces::EventBeside(CommandId command,
                                                      EventId event) const {
  const Invocation* invocation = Of(command).invocation;
  if (invocation == nullptr) return Spelled(event);
  const auto slot = absl::c_find(invocation->events, event);
  if (slot != invocation->events.end()) {
    return absl::StrCat("slot", slot - invocation->events.begin());
  }
  if (invoked_[invocation->program.index] > 1) return std::nullopt;
  return Spelled(event);
}

}  // namespace partita
