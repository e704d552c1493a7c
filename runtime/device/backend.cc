// The list of backends.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/backend.h"

#include <utility>

#include "runtime/device/host_device.h"

namespace partita {
namespace {

template <std::unique_ptr<Device> (*kNew)(DeviceTraits)>
absl::StatusOr<std::unique_ptr<Device>> Always(DeviceTraits traits) {
  return kNew(std::move(traits));
}

constexpr Backend kCpu = {"cpu", DeviceKind::kCpu, Always<NewCpuDevice>};
constexpr Backend kVirtual = {"virtual", std::nullopt,
                              Always<NewVirtualDevice>};
constexpr Backend kTimed = {"timed", std::nullopt, Always<NewTimedDevice>};

constexpr const Backend* kBackends[] = {&kCpu, &kVirtual, &kTimed};

}  // namespace

absl::Span<const Backend* const> Backends() { return kBackends; }

const Backend* BackendOf(DeviceKind kind) {
  for (const Backend* backend : kBackends) {
    if (backend->kind == kind) return backend;
  }
  return nullptr;
}

std::vector<DeviceKind> RunnableKinds() {
  std::vector<DeviceKind> kinds;
  for (const Backend* backend : kBackends) {
    if (backend->kind.has_value()) kinds.push_back(*backend->kind);
  }
  return kinds;
}

const Backend& VirtualBackend() { return kVirtual; }
const Backend& TimedBackend() { return kTimed; }

}  // namespace partita
