// The list of backends.
// SPDX-License-Identifier: Apache-2.0

#include "partita/backends/backend.h"

#include <algorithm>
#include <utility>

#include "kernels/catalog/host_kernels.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/native_code/trusted_code.h"
#include "partita/backends/cuda_backend.h"
#include "runtime/device/host_device.h"

namespace partita {
namespace {

template <std::unique_ptr<Device> (*kNew)(DeviceTraits)>
absl::StatusOr<std::unique_ptr<Device>> Always(DeviceTraits traits,
                                               GpuSplit split) {
  return kNew(std::move(traits));
}

absl::StatusOr<std::vector<CodeObject>> BuildNativeCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) {
  return CodegenCatalog().BuildCode(nodes, device);
}

constexpr CodeLoader kNativeCode = {.is_generated = HasGeneratedKernel,
                                    .build = BuildNativeCode,
                                    .load = TrustCode,
                                    .has_code = HasCode,
                                    .executable_isa = ExecutableIsa};

constexpr Backend kCpu = {.name = "cpu",
                          .kind = DeviceKind::kCpu,
                          .catalog = HostCatalog,
                          .check_catalog = CheckHostCatalog,
                          .libraries = HostLibraries,
                          .code_loader = &kNativeCode,
                          .new_device = Always<NewCpuDevice>};

constexpr Backend kVirtual = {.name = "virtual",
                              .libraries = HostLibraries,
                              .code_loader = &kNativeCode,
                              .new_device = Always<NewVirtualDevice>};

// The libraries compute reference runs only.
constexpr Backend kTimed = {.name = "timed",
                            .libraries = HostLibraries,
                            .new_device = Always<NewTimedDevice>};

constexpr const Backend* kBackends[] = {&kCpu, &kCudaBackend, &kVirtual,
                                        &kTimed};

}  // namespace

absl::Span<const Backend* const> Backends() { return kBackends; }

const Backend& BackendOf(DeviceKind kind) {
  return **std::find_if(
      std::begin(kBackends), std::end(kBackends),
      [&](const Backend* backend) { return backend->kind == kind; });
}

std::vector<DeviceKind> RunnableKinds() {
  std::vector<DeviceKind> kinds;
  for (const Backend* backend : kBackends) {
    if (backend->kind.has_value() && backend->new_device != nullptr) {
      kinds.push_back(*backend->kind);
    }
  }
  return kinds;
}

const Backend& VirtualBackend() { return kVirtual; }
const Backend& TimedBackend() { return kTimed; }

}  // namespace partita
