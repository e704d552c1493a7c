// Finds them by the devices that their commands use.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/serial_streams.h"

#include "absl/algorithm/container.h"
#include "graph/device_kind_traits.h"
#include "runtime/plan/copied_memory.h"

namespace partita {

SerialStreams::SerialStreams(const Plan& plan, const Entry& entry,
                             IdSpan<CommandId, Command> commands, int steps)
    : is_serial_(entry.streams.size(), false), left_(steps, 0) {
  if (steps <= 1) return;
  const auto is_serial = [&](DeviceId device) {
    const DeviceTraits& traits = plan.devices[device.index].traits;
    return !TraitsOf(traits.kind).overlaps_steps;
  };
  for (CommandId c : commands.ids()) {
    const Command& command = commands[c];
    const StreamId s = command.stream;
    if (is_serial_[s]) continue;
    is_serial_[s] = is_serial(entry.streams[s.index].device) ||
                    absl::c_any_of(CopiedMemory(entry, command), is_serial);
  }
  int serial = 0;
  for (CommandId c : commands.ids()) {
    if (is_serial_[commands[c].stream]) ++serial;
  }
  absl::c_fill(left_, serial);
}

}  // namespace partita
