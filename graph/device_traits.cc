// Names of the kinds of devices, and classes of equal devices.
// SPDX-License-Identifier: Apache-2.0

#include "graph/device_traits.h"

#include "absl/algorithm/container.h"
#include "graph/device_kind_traits.h"

namespace partita {

absl::string_view DeviceKindName(DeviceKind kind) {
  if (static_cast<int>(kind) >= kNumDeviceKinds) return "unknown";
  return TraitsOf(kind).name;
}

std::optional<DeviceKind> ParseDeviceKind(absl::string_view name) {
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    if (name == DeviceKindName(kind)) return kind;
  }
  return std::nullopt;
}

std::vector<absl::string_view> DeviceKindNames() {
  std::vector<absl::string_view> names;
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    names.push_back(DeviceKindName(static_cast<DeviceKind>(i)));
  }
  return names;
}

bool SameButName(const DeviceTraits& a, const DeviceTraits& b) {
  DeviceTraits renamed = a;
  renamed.name = b.name;
  return renamed == b;
}

std::vector<DeviceClass> ClassesOf(absl::Span<const DeviceTraits> devices) {
  std::vector<DeviceClass> classes;
  for (const DeviceTraits& device : devices) {
    auto same = absl::c_find_if(classes, [&](const DeviceClass& others) {
      return SameButName(*others.front(), device);
    });
    if (same == classes.end()) same = classes.emplace(classes.end());
    same->push_back(&device);
  }
  return classes;
}

}  // namespace partita
