// Finds devices of a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/machine.h"

#include "absl/strings/str_join.h"

namespace partita {

const MachineDevice* Machine::FindDevice(absl::string_view name) const {
  for (const MachineDevice& device : devices) {
    if (device.traits.name == name) return &device;
  }
  return nullptr;
}

std::string Machine::DeviceNames() const {
  return absl::StrJoin(devices, ", ",
                       [](std::string* out, const MachineDevice& device) {
                         out->append(device.traits.name);
                       });
}

}  // namespace partita
