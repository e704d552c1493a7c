// Appends streams, buffers and commands to a plan of one entry.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/testing/plan_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace partita {

std::vector<CommandId> CommandIds(std::initializer_list<int> indices) {
  std::vector<CommandId> ids;
  for (int index : indices) ids.push_back(CommandId(index));
  return ids;
}

PlanWriter::PlanWriter(const Machine& machine) : machine_(machine) {
  plan_.name = "p";
  for (const MachineDevice& device : machine.devices) {
    plan_.devices.push_back({.traits = device.traits});
  }
  plan_.entries.resize(1);
  entry().programs = {{.name = "main"}};
  entry().schedule.push_back({});
}

StreamId PlanWriter::Stream(int device) {
  entry().streams.push_back(
      {absl::StrCat("s", entry().streams.size()), DeviceId(device)});
  return StreamId(static_cast<int32_t>(entry().streams.size()) - 1);
}

BufferId PlanWriter::Buffer(int device, int64_t bytes, int64_t offset) {
  partita::Buffer buffer;
  buffer.device = DeviceId(device);
  buffer.range = {offset, bytes, 1, 0};
  entry().buffers.push_back(buffer);
  return BufferId(static_cast<int32_t>(entry().buffers.size()) - 1);
}

ChannelId PlanWriter::Channel(StreamId sender, StreamId receiver, int capacity,
                              int64_t bytes, int64_t offset) {
  partita::Channel channel{sender, receiver, capacity, {}};
  const int device = entry().streams[receiver.index].device.index;
  for (int slot = 0; slot < capacity; ++slot) {
    channel.slots.push_back(Buffer(device, bytes, offset + slot * bytes));
  }
  entry().channels.push_back(std::move(channel));
  return ChannelId(static_cast<int32_t>(entry().channels.size()) - 1);
}

CommandId PlanWriter::Kernel(StreamId stream, double seconds,
                             std::vector<BufferId> reads,
                             std::vector<BufferId> writes) {
  Command command;
  command.stream = stream;
  command.instance.node = NodeId(static_cast<int32_t>(seconds_.size()));
  command.operands = std::move(reads);
  command.results = std::move(writes);
  seconds_.push_back(seconds);
  return Add(command);
}

CommandId PlanWriter::Copy(StreamId stream, BufferId from, BufferId to) {
  Command command;
  command.kind = Command::Kind::kCopy;
  command.stream = stream;
  command.operands = {from};
  command.results = {to};
  return Add(command);
}

CommandId PlanWriter::Record(StreamId stream, int event) {
  return Signal(stream, Command::Kind::kRecord, event);
}

CommandId PlanWriter::Wait(StreamId stream, int event) {
  return Signal(stream, Command::Kind::kWait, event);
}

CommandId PlanWriter::Send(StreamId stream, BufferId from, ChannelId channel) {
  Command command;
  command.kind = Command::Kind::kSend;
  command.stream = stream;
  command.operands = {from};
  command.channel = channel;
  return Add(command);
}

CommandId PlanWriter::Recv(StreamId stream, BufferId to, ChannelId channel) {
  Command command;
  command.kind = Command::Kind::kRecv;
  command.stream = stream;
  command.results = {to};
  command.channel = channel;
  return Add(command);
}

CommandId PlanWriter::Add(Command command) {
  entry().programs[0].commands.push_back(std::move(command));
  return CommandId(static_cast<int32_t>(entry().programs[0].commands.size()) -
                   1);
}

absl::StatusOr<Simulation> PlanWriter::Run() const {
  return Simulate(plan_, 0, machine_, seconds_);
}

CommandId PlanWriter::Signal(StreamId stream, Command::Kind kind, int event) {
  Command command;
  command.kind = kind;
  command.stream = stream;
  command.event = EventId(event);
  entry().num_events = std::max(entry().num_events, event + 1);
  return Add(command);
}

}  // namespace partita
