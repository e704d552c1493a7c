// Groups runs of equal form, and finds the slots of their programs.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/programs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace partita {
namespace {

void ForEachBuffer(Command& command, absl::FunctionRef<void(BufferId&)> visit) {
  for (BufferId& id : command.operands) visit(id);
  for (BufferId& id : command.results) visit(id);
  if (command.workspace.valid()) visit(command.workspace);
}

// A run whose buffers and events are replaced by slots, numbered by first use,
// and what each slot stands for.
struct Form {
  std::vector<Command> commands;
  std::vector<BufferId> buffers;
  std::vector<EventId> events;
};

template <typename Id>
class Slots {
 public:
  explicit Slots(std::vector<Id>& bound) : bound_(bound) {}
  void Replace(Id& id) {
    const auto [it, added] =
        slots_.emplace(id.index, static_cast<int32_t>(bound_.size()));
    if (added) bound_.push_back(id);
    id = Id(kFirstSlot + it->second);
  }

 private:
  std::vector<Id>& bound_;
  std::map<int32_t, int32_t> slots_;
};

Form FormOf(const CommandRun& run) {
  Form form{.commands = run.commands};
  Slots<BufferId> buffers(form.buffers);
  Slots<EventId> events(form.events);
  for (Command& command : form.commands) {
    // Records and waits belong to no micro-batch.
    if (!command.event.valid()) {
      command.instance.micro_batch.index -= run.micro_batch.index;
    }
    ForEachBuffer(command, [&](BufferId& id) { buffers.Replace(id); });
    if (command.event.valid()) events.Replace(command.event);
  }
  return form;
}

// A program under construction: its commands and the runs that share it.
struct Shared {
  std::string name;
  std::vector<Command> commands;
  std::vector<size_t> runs;
};

// For each slot: the id that all runs bind it to, or a new slot.
template <typename Id>
std::vector<Id> Bindings(const std::vector<const std::vector<Id>*>& bound,
                         int& num_slots) {
  std::vector<Id> bindings;
  for (size_t slot = 0; slot < bound[0]->size(); ++slot) {
    const Id first = (*bound[0])[slot];
    const bool same =
        std::all_of(bound.begin(), bound.end(),
                    [&](const auto* ids) { return (*ids)[slot] == first; });
    bindings.push_back(same ? first : Id(kFirstSlot + num_slots++));
  }
  return bindings;
}

template <typename Id>
std::vector<Id> Bound(const std::vector<Id>& ids,
                      const std::vector<Id>& bindings) {
  std::vector<Id> bound;
  for (size_t slot = 0; slot < ids.size(); ++slot) {
    if (bindings[slot].index >= kFirstSlot) bound.push_back(ids[slot]);
  }
  return bound;
}

// Makes the program of a group, and fills in the invocations of its runs.
Program ProgramOf(const Shared& group, ProgramId id, std::vector<Form>& forms,
                  std::vector<Invocation>& invocations) {
  Program program{.name = group.name};
  std::vector<const std::vector<BufferId>*> buffers;
  std::vector<const std::vector<EventId>*> events;
  for (size_t run : group.runs) {
    buffers.push_back(&forms[run].buffers);
    events.push_back(&forms[run].events);
  }
  const std::vector<BufferId> of_buffers =
      Bindings(buffers, program.num_buffer_slots);
  const std::vector<EventId> of_events =
      Bindings(events, program.num_event_slots);
  program.commands = group.commands;
  for (Command& command : program.commands) {
    ForEachBuffer(
        command, [&](BufferId& id) { id = of_buffers[id.index - kFirstSlot]; });
    if (command.event.valid()) {
      command.event = of_events[command.event.index - kFirstSlot];
    }
  }
  for (size_t run : group.runs) {
    invocations[run].program = id;
    invocations[run].buffers = Bound(forms[run].buffers, of_buffers);
    invocations[run].events = Bound(forms[run].events, of_events);
  }
  return program;
}

}  // namespace

void AddPrograms(const std::vector<CommandRun>& runs, Entry& entry) {
  std::vector<Form> forms;
  std::vector<Shared> groups;
  std::vector<Invocation> invocations(runs.size());
  absl::flat_hash_set<std::string> names;
  for (size_t r = 0; r < runs.size(); ++r) {
    forms.push_back(FormOf(runs[r]));
    invocations[r].micro_batch = runs[r].micro_batch;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Shared& other) {
          return other.commands == forms[r].commands;
        });
    if (group == groups.end()) {
      std::string name = runs.size() == 1 ? "main" : runs[r].name;
      for (int i = 2; !names.insert(name).second; ++i) {
        name = absl::StrCat(runs[r].name, "_", i);
      }
      groups.push_back({std::move(name), forms[r].commands, {}});
      group = std::prev(groups.end());
    }
    group->runs.push_back(r);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    entry.programs.push_back(ProgramOf(
        groups[g], ProgramId(static_cast<int>(g)), forms, invocations));
  }
  entry.schedule = std::move(invocations);
}

}  // namespace partita
