// Lists devices by the buffers of a command and of its channel.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/copied_memory.h"

namespace partita {
namespace {

using Kind = Command::Kind;

bool Copies(const Command& command) {
  return command.kind == Kind::kCopy || command.kind == Kind::kSend ||
         command.kind == Kind::kRecv;
}

}  // namespace

std::vector<DeviceId> CopiedMemory(const Entry& entry, const Command& command) {
  std::vector<DeviceId> devices;
  if (!Copies(command)) return devices;
  const auto add = [&](const std::vector<BufferId>& buffers) {
    for (const BufferId buffer : buffers) {
      devices.push_back(entry.buffers[buffer.index].device);
    }
  };
  add(command.results);
  if (command.channel.valid()) {
    const Channel& channel = entry.channels[command.channel.index];
    add(channel.slots);
    const bool takes = command.kind == Kind::kRecv;
    if (takes && channel.capacity == 0) {
      devices.push_back(entry.streams[channel.sender.index].device);
    }
  }
  add(command.operands);
  return devices;
}

}  // namespace partita
