// Looks for copies and messages that the host cannot copy.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/stream_devices.h"

#include "absl/strings/str_cat.h"
#include "runtime/plan/copied_memory.h"

namespace partita {
namespace {

// The first device whose memory the command copies and the host cannot access;
// null: none.
Device* Copier(const Entry& entry, const Command& command,
               const Devices& devices) {
  for (const DeviceId id : CopiedMemory(entry, command)) {
    Device& device = *devices[id.index];
    if (!device.properties().host_accesses_arenas) return &device;
  }
  return nullptr;
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
    if (!own[s]->properties().host_accesses_arenas) continue;
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
