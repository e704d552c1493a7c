// Look-up in a machine.
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

const Link* Machine::FindLink(absl::string_view from,
                              absl::string_view to) const {
  for (const Link& link : links) {
    if (link.from == from && link.to == to) return &link;
    if (link.from == to && link.to == from) return &link;
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
