// Finds devices of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/machine.h"

#include "absl/strings/str_join.h"
#include "graph/device_kind_traits.h"

namespace partita {

const MachineDevice* Machine::FindDevice(absl::string_view name) const {
  for (const MachineDevice& device : devices) {
    if (device.traits.name == name) return &device;
  }
  return nullptr;
}

LocalCopy Machine::LocalCopyOf(const DeviceTraits& device) const {
  if (TraitsOf(device.kind).shares_host && host.copy_bandwidth > 0) {
    return {.fixed = host.copy_latency, .per_byte = 1 / host.copy_bandwidth};
  }
  const double bandwidth = device.memory_bandwidth;
  return {.fixed = device.launch_seconds,
          .per_byte = bandwidth > 0 ? 2 / bandwidth : 0};
}

std::string Machine::DeviceNames() const {
  return absl::StrJoin(devices, ", ",
                       [](std::string* out, const MachineDevice& device) {
                         out->append(device.traits.name);
                       });
}

}  // namespace partita
