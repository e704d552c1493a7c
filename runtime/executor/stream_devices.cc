// Looks for copies that the host cannot do.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_devices.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

// The first of the buffers' devices whose memory the host cannot access; null:
// none.
Device* BeyondHost(const Entry& entry, const std::vector<BufferId>& buffers,
                   const Devices& devices) {
  for (const BufferId buffer : buffers) {
    Device& device = *devices[entry.buffers[buffer.index].device.index];
    if (!device.properties().host_accesses_arenas) return &device;
  }
  return nullptr;
}

Device* Copier(const Entry& entry, const Command& copy,
               const Devices& devices) {
  Device* const to = BeyondHost(entry, copy.results, devices);
  return to != nullptr ? to : BeyondHost(entry, copy.operands, devices);
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
    if (command.kind != Command::Kind::kCopy ||
        !own[s]->properties().host_accesses_arenas) {
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
