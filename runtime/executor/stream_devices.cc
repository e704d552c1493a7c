// Looks for copies and messages that the host cannot copy.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_devices.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// The devices whose memory the stream of a copy or message copies to and from,
// in this order.
std::vector<DeviceId> CopiedMemory(const Entry& entry, const Command& command) {
  std::vector<DeviceId> devices;
  const auto add = [&](const std::vector<BufferId>& buffers) {
    for (const BufferId buffer : buffers) {
      devices.push_back(entry.buffers[buffer.index].device);
    }
  };
  add(command.results);
  if (command.channel.valid()) {
    const Channel& channel = entry.channels[command.channel.index];
    add(channel.slots);
    const bool takes = command.kind == Command::Kind::kRecv;
    if (takes && channel.capacity == 0) {
      devices.push_back(entry.streams[channel.sender.index].device);
    }
  }
  add(command.operands);
  return devices;
}

// The first of those devices whose memory the host cannot access; null: none.
Device* Copier(const Entry& entry, const Command& command,
               const Devices& devices) {
  for (const DeviceId id : CopiedMemory(entry, command)) {
    Device& device = *devices[id.index];
    if (!device.properties().host_accesses_arenas) return &device;
  }
  return nullptr;
}

bool Copies(const Command& command) {
  return command.kind == Command::Kind::kCopy ||
         command.kind == Command::Kind::kSend ||
         command.kind == Command::Kind::kRecv;
}

absl::Status RunsKernels(const Entry& entry, StreamId stream,
                         const Device& device) {
  return absl::UnimplementedError(absl::StrCat(
      "entry @", entry.name, ": found kernels in stream ",
      entry.streams[stream.index].name, ", which copies from or to ",
      device.traits().name, "; expected them in another stream"));
}

}  // namespace

absl::StatusOr<StreamDevices> FindStreamDevices(const Entry& entry,
                                                const CommandList& commands,
                                                const Devices& devices) {
  StreamDevices found(entry.streams.size(), nullptr);
  for (const StreamId s : found.ids()) {
    found[s] = devices[entry.streams[s.index].device.index].get();
  }
  const StreamDevices own = found;
  for (const Command& command : commands) {
    const StreamId s = command.stream;
    if (!Copies(command) || !own[s]->properties().host_accesses_arenas) {
      continue;
    }
    Device* const copier = Copier(entry, command, devices);
    if (copier != nullptr) found[s] = copier;
  }
  for (const Command& command : commands) {
    const StreamId s = command.stream;
    if (command.kind == Command::Kind::kKernel && found[s] != own[s]) {
      return RunsKernels(entry, s, *found[s]);
    }
  }
  return found;
}

}  // namespace partita
