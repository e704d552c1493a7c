// Mutations of bytes: ranges, operands, slots, arenas.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "runtime/plan/checker/testing/mutants/command_list.h"
#include "runtime/plan/checker/testing/mutants/mutation_list.h"

namespace partita {
namespace {

using Kind = Command::Kind;

std::optional<BufferId> DrawUsedBuffer(const Entry& entry, Random& random) {
  std::vector<BufferId> used;
  for (const Program& program : entry.programs) {
    for (const Command& command : program.commands) {
      for (BufferId id : command.operands) used.push_back(id);
      for (BufferId id : command.results) used.push_back(id);
      if (command.workspace.valid()) used.push_back(command.workspace);
    }
  }
  for (const Invocation& invocation : entry.schedule) {
    used.insert(used.end(), invocation.buffers.begin(),
                invocation.buffers.end());
  }
  for (const Channel& channel : entry.channels) {
    used.insert(used.end(), channel.slots.begin(), channel.slots.end());
  }
  std::erase_if(used, [](BufferId id) { return id.index >= kFirstSlot; });
  return Draw(used, random);
}

std::string ShiftRange(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<BufferId> id = DrawUsedBuffer(entry, random);
  if (!id.has_value()) return "";
  Buffer& buffer = entry.buffers[id->index];
  const int64_t by = static_cast<int64_t>(random() % 9) - 4;
  if (by == 0 || buffer.range.offset + by < 0) return "";
  buffer.range.offset += by;
  return absl::StrCat("shifted !", buffer.name, " by ", by);
}

std::string ResizeRange(Plan& plan, Random& random, int64_t by) {
  Entry& entry = plan.entries[0];
  const std::optional<BufferId> id = DrawUsedBuffer(entry, random);
  if (!id.has_value()) return "";
  Buffer& buffer = entry.buffers[id->index];
  buffer.range.block += by;
  return absl::StrCat("resized !", buffer.name, " by ", by);
}

std::string ShrinkRange(Plan& plan, Random& random) {
  return ResizeRange(plan, random, -1);
}

std::string GrowRange(Plan& plan, Random& random) {
  return ResizeRange(plan, random, 1);
}

// Changes the copy and its size together, so that the form is still correct.
std::string ShrinkCopy(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry,
                    [](const Command& command) {
                      return command.kind == Kind::kCopy &&
                             command.operands[0].index < kFirstSlot &&
                             command.results[0].index < kFirstSlot;
                    }),
           random);
  if (!place.has_value()) return "";
  Command& command = CommandAt(entry, *place);
  for (BufferId* id : {&command.operands[0], &command.results[0]}) {
    Buffer part = entry.buffers[id->index];
    part.range.block -= 1;
    *id = BufferId(static_cast<int32_t>(entry.buffers.size()));
    entry.buffers.push_back(part);
  }
  return absl::StrCat("shortened ", TextOf(entry, *place));
}

std::string SwapOperands(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place = Draw(
      PlacesOf(
          entry,
          [](const Command& command) { return command.operands.size() > 1; }),
      random);
  if (!place.has_value()) return "";
  std::vector<BufferId>& operands = CommandAt(entry, *place).operands;
  if (operands[0] == operands[1]) return "";
  std::swap(operands[0], operands[1]);
  return absl::StrCat("swapped operands of ", TextOf(entry, *place));
}

bool Alike(const Buffer& a, const Buffer& b) {
  return a.device == b.device && a.range.size() == b.range.size();
}

// One operand or result becomes another buffer of the same size.
std::string RetargetBuffer(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place = Draw(
      PlacesOf(entry,
               [](const Command& command) {
                 return !command.operands.empty() || !command.results.empty();
               }),
      random);
  if (!place.has_value()) return "";
  Command& command = CommandAt(entry, *place);
  std::vector<BufferId*> ids;
  for (BufferId& id : command.operands) ids.push_back(&id);
  for (BufferId& id : command.results) ids.push_back(&id);
  BufferId& id = *ids[random() % ids.size()];
  if (id.index >= kFirstSlot) return "";
  const BufferId other(static_cast<int32_t>(random() % entry.buffers.size()));
  if (other == id ||
      !Alike(entry.buffers[id.index], entry.buffers[other.index])) {
    return "";
  }
  const std::string text = absl::StrCat(
      "!", entry.buffers[id.index].name, " to !",
      entry.buffers[other.index].name, " in ", TextOf(entry, *place));
  id = other;
  return text;
}

// Two writes swap their results, which may be halves of one value.
std::string SwapHalves(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const auto writes = [](const Command& command) {
    return command.results.size() == 1 && command.results[0].index < kFirstSlot;
  };
  const std::optional<Place> a = Draw(PlacesOf(entry, writes), random);
  const std::optional<Place> b = Draw(PlacesOf(entry, writes), random);
  if (!a.has_value()) return "";
  BufferId& first = CommandAt(entry, *a).results[0];
  BufferId& second = CommandAt(entry, *b).results[0];
  if (first == second ||
      !Alike(entry.buffers[first.index], entry.buffers[second.index])) {
    return "";
  }
  std::swap(first, second);
  return absl::StrCat("swapped results of ", TextOf(entry, *a), " and ",
                      TextOf(entry, *b));
}

// An invocation takes a buffer slot, or an event, of another one.
std::string RebindSlot(Plan& plan, Random& random) {
  std::vector<Invocation>& schedule = plan.entries[0].schedule;
  const size_t a = random() % schedule.size();
  const size_t b = random() % schedule.size();
  const bool events = random() % 2 == 0;
  if (events) {
    if (schedule[a].events.empty() || schedule[b].events.empty()) return "";
    EventId& id = schedule[a].events[random() % schedule[a].events.size()];
    const EventId other =
        schedule[b].events[random() % schedule[b].events.size()];
    if (id == other) return "";
    id = other;
  } else {
    if (schedule[a].buffers.empty() || schedule[b].buffers.empty()) return "";
    BufferId& id = schedule[a].buffers[random() % schedule[a].buffers.size()];
    const BufferId other =
        schedule[b].buffers[random() % schedule[b].buffers.size()];
    if (id == other) return "";
    id = other;
  }
  return absl::StrCat("rebound ", events ? "an event" : "a slot",
                      " of invocation ", a, " as in ", b);
}

// The command's work is stated for another micro-batch.
std::string ChangeBatch(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  const std::optional<Place> place =
      Draw(PlacesOf(entry,
                    [](const Command& command) {
                      return command.instance.micro_batch > kFirstMicroBatch;
                    }),
           random);
  if (!place.has_value()) return "";
  --CommandAt(entry, *place).instance.micro_batch.index;
  return absl::StrCat("took an earlier batch for ", TextOf(entry, *place));
}

std::string LowerArena(Plan& plan, Random& random) {
  PlanDevice& device = plan.devices[random() % plan.devices.size()];
  switch (random() % 3) {
    case 0:
      device.memory -= 1;
      return absl::StrCat("lowered memory of ", device.traits.name);
    case 1:
      if (device.step_bytes == 0) return "";
      device.step_bytes -= 1;
      return absl::StrCat("lowered step part of ", device.traits.name);
    default:
      if (device.persistent_bytes == 0) return "";
      device.persistent_bytes -= 1;
      return absl::StrCat("lowered persistent part of ", device.traits.name);
  }
}

std::string LowerCapacity(Plan& plan, Random& random) {
  std::vector<Channel>& channels = plan.entries[0].channels;
  if (channels.empty()) return "";
  Channel& channel = channels[random() % channels.size()];
  if (channel.capacity == 0) return "";
  --channel.capacity;
  channel.slots.pop_back();
  return "lowered a channel's capacity";
}

// After a constant's last read, a result is computed into its range.
std::string OverwritePersistent(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  if (entry.persistent.empty()) return "";
  const BufferId held =
      entry.persistent[random() % entry.persistent.size()].buffer;
  const Buffer& buffer = entry.buffers[held.index];
  const std::optional<Place> place = Draw(
      PlacesOf(entry,
               [&](const Command& command) {
                 return command.results.size() == 1 &&
                        command.results[0].index < kFirstSlot &&
                        command.results[0] != held &&
                        Alike(entry.buffers[command.results[0].index], buffer);
               }),
      random);
  if (!place.has_value()) return "";
  Command again = CommandAt(entry, *place);
  again.results[0] = held;
  std::vector<Command>& commands =
      entry.programs[place->program.index].commands;
  const size_t to =
      place->index + 1 + random() % (commands.size() - place->index);
  commands.insert(commands.begin() + to, again);
  return absl::StrCat("wrote !", buffer.name, " again at ", to);
}

std::string OverlapSteps(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  if (entry.depth > 1) return "";
  entry.depth = 2;
  for (PlanDevice& device : plan.devices) device.memory += device.step_bytes;
  return "let steps overlap";
}

// A port takes the name of another port, which keeps its name or takes the
// first's.
std::string RenamePort(Plan& plan, Random& random) {
  Entry& entry = plan.entries[0];
  std::vector<Port>& ports = random() % 2 == 0 ? entry.inputs : entry.outputs;
  if (ports.size() < 2) return "";
  const size_t a = random() % ports.size();
  const size_t b = random() % ports.size();
  if (a == b) return "";
  const std::string text = absl::StrCat(ports[a].name, " as ", ports[b].name);
  if (random() % 2 == 0) {
    ports[a].name = ports[b].name;
    return absl::StrCat("renamed ", text);
  }
  std::swap(ports[a].name, ports[b].name);
  return absl::StrCat("renamed ", text, " and back");
}

constexpr Mutation kBufferMutations[] = {
    {"rename port", RenamePort},
    {"shift range", ShiftRange},
    {"shrink range", ShrinkRange},
    {"grow range", GrowRange},
    {"shorten copy", ShrinkCopy},
    {"swap operands", SwapOperands},
    {"retarget buffer", RetargetBuffer},
    {"swap halves", SwapHalves},
    {"rebind slot", RebindSlot},
    {"change batch", ChangeBatch},
    {"lower arena", LowerArena},
    {"lower capacity", LowerCapacity},
    {"overwrite persistent", OverwritePersistent},
    {"let steps overlap", OverlapSteps},
};

}  // namespace

absl::Span<const Mutation> BufferMutations() { return kBufferMutations; }

absl::Span<const Mutation> Mutations() {
  static const auto* const all = [] {
    auto* const mutations = new std::vector<Mutation>;
    for (const auto& list : {CommandMutations(), BufferMutations(),
                             RangeMutations(), LayoutMutations()}) {
      mutations->insert(mutations->end(), list.begin(), list.end());
    }
    return mutations;
  }();
  return *all;
}

}  // namespace partita
