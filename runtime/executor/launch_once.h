// Launches one kernel with memory of its own, for reference runs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_LAUNCH_ONCE_H_
#define PARTITA_RUNTIME_EXECUTOR_LAUNCH_ONCE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/host_tensor.h"
#include "kernels/kernel.h"
#include "runtime/device/device.h"
#include "runtime/executor/kernel_binder.h"

namespace partita {

// Binds the request's node (kernel_binder.h), launches it once on the calling
// thread, and returns its results. `operands` are in host memory. If the host
// cannot access the memory of `device`, the kernel runs there, on copies;
// otherwise, and if it is null, in host memory.
absl::StatusOr<std::vector<HostTensor>> LaunchOnce(
    const BindRequest& request, const std::vector<void*>& operands,
    const KernelLibraries& libraries, bool any_host_kernel, Device* device);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_LAUNCH_ONCE_H_
