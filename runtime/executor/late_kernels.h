// Kernels of late devices, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_LATE_KERNELS_H_
#define PARTITA_RUNTIME_EXECUTOR_LATE_KERNELS_H_

#include "absl/status/statusor.h"
#include "kernels/kernel.h"

namespace partita {

// Binds what `host` binds for a CPU, on GPUs that are LateDevices: a launch
// issues the host's kernel into the device's stream. Errors of launches are
// lost, as on a device.
class LateLibrary : public KernelLibrary {
 public:
  // `host` outlives the library.
  explicit LateLibrary(const KernelLibrary& host) : host_(host) {}
  absl::string_view name() const override { return "late"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override;

 private:
  const KernelLibrary& host_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_LATE_KERNELS_H_
