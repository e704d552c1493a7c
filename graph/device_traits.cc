// Names of the kinds of devices.
// SPDX-License-Identifier: Apache-2.0

#include "graph/device_traits.h"

namespace partita {

absl::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCuda:
      break;
  }
  return "cuda";
}

std::optional<DeviceKind> ParseDeviceKind(absl::string_view name) {
  if (name == "cpu") return DeviceKind::kCpu;
  if (name == "cuda") return DeviceKind::kCuda;
  return std::nullopt;
}

bool SameButName(const DeviceTraits& a, const DeviceTraits& b) {
  DeviceTraits renamed = a;
  renamed.name = b.name;
  return renamed == b;
}

}  // namespace partita
