// The backends of this build: all that is decided by what runs a device, one
// row each.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BACKENDS_BACKEND_H_
#define PARTITA_PARTITA_BACKENDS_BACKEND_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "graph/gpu_split.h"
#include "graph/kernel_catalog.h"
#include "kernels/code_loader.h"
#include "kernels/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/communicator.h"

namespace partita {

struct Backend {
  absl::string_view name;
  // The kind of the devices that it runs; none: it emulates devices of any
  // kind, and has no catalog.
  std::optional<DeviceKind> kind;
  // What plans may bind for its devices; it also builds their code objects.
  const KernelCatalog& (*catalog)() = nullptr;
  // The first error of the catalog for such a device, which made it offer fewer
  // kernels than it should; null: it has none.
  absl::Status (*check_catalog)(const DeviceTraits& device) = nullptr;
  // What binds kernels of plans for its devices, in order of preference; null:
  // nothing does.
  std::vector<const KernelLibrary*> (*libraries)() = nullptr;
  // Loads the plan's code objects of CodeTargetOf a device; null: none runs.
  const CodeLoader* code_loader = nullptr;
  // Unavailable if this machine lacks the device. `split` says how many devices
  // share each GPU. Null: this build cannot run such devices; plans for them
  // can be made, proved, simulated and emulated.
  absl::StatusOr<std::unique_ptr<Device>> (*new_device)(
      DeviceTraits traits, GpuSplit split) = nullptr;
  // The transport of collectives among its devices.
  CommunicatorMaker new_communicator = NewHostCommunicator;
};

// One row for each backend (the list is in backend.cc).
absl::Span<const Backend* const> Backends();

// The backend of a kind of device.
const Backend& BackendOf(DeviceKind kind);

// The kinds whose devices this build can run.
std::vector<DeviceKind> RunnableKinds();

// The backends that emulate devices of any kind: with host kernels, or by
// sleeping for the predicted times.
const Backend& VirtualBackend();
const Backend& TimedBackend();

}  // namespace partita

#endif  // PARTITA_PARTITA_BACKENDS_BACKEND_H_
