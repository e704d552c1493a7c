// Checks ids, entry by entry.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/plan_ids.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_limits.h"

namespace partita {
namespace {

absl::Status CheckId(absl::string_view what, int64_t id, size_t count) {
  if (id >= 0 && id < static_cast<int64_t>(count)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "found ",
      id == -1 ? absl::StrCat("no ", what) : absl::StrCat(what, " ", id),
      "; expected one of ", count));
}

absl::Status CheckCount(absl::string_view what, int64_t value, int64_t low = 0,
                        int64_t high = kMaxPlanNumber) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found ", what, " ", value, "; expected ", low, "..", high));
}

class EntryIds {
 public:
  EntryIds(const Plan& plan, const Entry& entry) : plan_(plan), entry_(entry) {}

  absl::Status Check() const;

 private:
  absl::Status CheckBuffers() const;
  absl::Status CheckStreams() const;
  absl::Status CheckPersistent() const;
  absl::Status CheckProgram(const Program& program) const;
  absl::Status CheckCommand(const Program& program,
                            const Command& command) const;
  absl::Status CheckInvocation(const Invocation& invocation) const;
  absl::Status CheckBuffer(BufferId id, int slots) const;
  absl::Status CheckEvent(EventId id, int slots) const;
  absl::Status CheckNode(NodeId id) const;

  const Plan& plan_;
  const Entry& entry_;
};

absl::Status EntryIds::Check() const {
  PARTITA_RETURN_IF_ERROR(CheckCount("depth", entry_.depth, 1, kMaxPlanDepth));
  PARTITA_RETURN_IF_ERROR(
      CheckCount("events", entry_.num_events, 0, kMaxPlanEvents));
  PARTITA_RETURN_IF_ERROR(CheckBuffers());
  PARTITA_RETURN_IF_ERROR(CheckStreams());
  PARTITA_RETURN_IF_ERROR(CheckPersistent());
  for (const Program& program : entry_.programs) {
    PARTITA_RETURN_IF_ERROR(CheckProgram(program));
  }
  for (const Invocation& invocation : entry_.schedule) {
    PARTITA_RETURN_IF_ERROR(CheckInvocation(invocation));
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckBuffers() const {
  for (const Buffer& buffer : entry_.buffers) {
    PARTITA_RETURN_IF_ERROR(
        CheckId("device", buffer.device.index, plan_.devices.size()));
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckStreams() const {
  const size_t streams = entry_.streams.size();
  for (const Stream& stream : entry_.streams) {
    PARTITA_RETURN_IF_ERROR(
        CheckId("device", stream.device.index, plan_.devices.size()));
  }
  for (const Group& group : entry_.groups) {
    for (StreamId id : group.ranks) {
      PARTITA_RETURN_IF_ERROR(CheckId("stream", id.index, streams));
    }
  }
  for (const Channel& channel : entry_.channels) {
    PARTITA_RETURN_IF_ERROR(CheckCount("capacity", channel.capacity));
    PARTITA_RETURN_IF_ERROR(CheckId("stream", channel.sender.index, streams));
    PARTITA_RETURN_IF_ERROR(CheckId("stream", channel.receiver.index, streams));
    for (BufferId id : channel.slots) {
      PARTITA_RETURN_IF_ERROR(CheckBuffer(id, 0));
    }
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckPersistent() const {
  const int literals = plan_.module.literals().size();
  for (const PersistentValue& value : entry_.persistent) {
    PARTITA_RETURN_IF_ERROR(CheckBuffer(value.buffer, 0));
    PARTITA_RETURN_IF_ERROR(CheckNode(value.node));
    PARTITA_RETURN_IF_ERROR(CheckCount("rank", value.rank));
    if (!value.initial.valid()) continue;
    PARTITA_RETURN_IF_ERROR(CheckId("literal", value.initial.index, literals));
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckProgram(const Program& program) const {
  PARTITA_RETURN_IF_ERROR(CheckCount("slots", program.num_buffer_slots));
  PARTITA_RETURN_IF_ERROR(CheckCount("slots", program.num_event_slots));
  for (size_t i = 0; i < program.commands.size(); ++i) {
    if (absl::Status good = CheckCommand(program, program.commands[i]);
        !good.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "program ", program.name, ": command ", i, ": ", good.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckCommand(const Program& program,
                                    const Command& command) const {
  const int slots = program.num_buffer_slots;
  PARTITA_RETURN_IF_ERROR(
      CheckId("stream", command.stream.index, entry_.streams.size()));
  for (BufferId id : command.operands) {
    PARTITA_RETURN_IF_ERROR(CheckBuffer(id, slots));
  }
  for (BufferId id : command.results) {
    PARTITA_RETURN_IF_ERROR(CheckBuffer(id, slots));
  }
  if (command.workspace.valid()) {
    PARTITA_RETURN_IF_ERROR(CheckBuffer(command.workspace, slots));
  }
  if (command.event.valid()) {
    PARTITA_RETURN_IF_ERROR(CheckEvent(command.event, program.num_event_slots));
  }
  if (command.instance.node.valid()) {
    PARTITA_RETURN_IF_ERROR(CheckNode(command.instance.node));
  }
  PARTITA_RETURN_IF_ERROR(CheckCount("rank", command.instance.rank));
  PARTITA_RETURN_IF_ERROR(
      CheckCount("micro-batch", command.instance.micro_batch.index));
  if (command.port >= 0) {
    const bool fetch = command.kind == Command::Kind::kFetch;
    PARTITA_RETURN_IF_ERROR(CheckId(
        "port", command.port, (fetch ? entry_.outputs : entry_.inputs).size()));
  }
  if (command.group.valid()) {
    PARTITA_RETURN_IF_ERROR(
        CheckId("group", command.group.index, entry_.groups.size()));
  }
  if (command.channel.valid()) {
    PARTITA_RETURN_IF_ERROR(
        CheckId("channel", command.channel.index, entry_.channels.size()));
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckInvocation(const Invocation& invocation) const {
  PARTITA_RETURN_IF_ERROR(
      CheckId("program", invocation.program.index, entry_.programs.size()));
  PARTITA_RETURN_IF_ERROR(
      CheckCount("micro-batch", invocation.micro_batch.index));
  for (BufferId id : invocation.buffers) {
    PARTITA_RETURN_IF_ERROR(CheckBuffer(id, 0));
  }
  for (EventId id : invocation.events) {
    PARTITA_RETURN_IF_ERROR(CheckEvent(id, 0));
  }
  return absl::OkStatus();
}

absl::Status EntryIds::CheckBuffer(BufferId id, int slots) const {
  if (id.index >= kFirstSlot) {
    return CheckId("buffer slot", id.index - kFirstSlot, slots);
  }
  return CheckId("buffer", id.index, entry_.buffers.size());
}

absl::Status EntryIds::CheckEvent(EventId id, int slots) const {
  if (id.index >= kFirstSlot) {
    return CheckId("event slot", id.index - kFirstSlot, slots);
  }
  return CheckId("event", id.index, entry_.num_events);
}

absl::Status EntryIds::CheckNode(NodeId id) const {
  const int bound = entry_.graph == nullptr ? 0 : entry_.graph->node_id_bound();
  PARTITA_RETURN_IF_ERROR(CheckId("node", id.index, bound));
  if (entry_.graph->alive(id)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "found node ", id.index, "; expected one that the graph still has"));
}

}  // namespace

absl::Status CheckIds(const Plan& plan) {
  PARTITA_RETURN_IF_ERROR(CheckCount("entries",
                                     static_cast<int64_t>(plan.entries.size()),
                                     0, static_cast<int64_t>(kMaxPlanEntries)));
  for (const Entry& entry : plan.entries) {
    if (absl::Status good = EntryIds(plan, entry).Check(); !good.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry @", entry.name, ": ", good.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
