// The backends of this build: what runs the devices of a session.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_BACKEND_H_
#define PARTITA_RUNTIME_DEVICE_BACKEND_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "runtime/device/device.h"

namespace partita {

struct Backend {
  absl::string_view name;
  // The kind of the devices that it runs; none: it emulates devices of any
  // kind.
  std::optional<DeviceKind> kind;
  // Unavailable if this machine lacks the device.
  absl::StatusOr<std::unique_ptr<Device>> (*new_device)(DeviceTraits traits);
};

// One row for each backend (the list is in backend.cc).
absl::Span<const Backend* const> Backends();

// The backend that runs devices of this kind, or null if this build has none.
const Backend* BackendOf(DeviceKind kind);

// The kinds with a backend.
std::vector<DeviceKind> RunnableKinds();

// The backends that emulate devices of any kind: with host kernels, or by
// sleeping for the predicted times.
const Backend& VirtualBackend();
const Backend& TimedBackend();

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_BACKEND_H_
