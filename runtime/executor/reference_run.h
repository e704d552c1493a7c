// The reference for every plan: evaluates the bound graph one instance at a
// time, in the arithmetic of the plan's kernels.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_
#define PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/evaluate.h"
#include "graph/host_tensor.h"
#include "runtime/device/device.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/plan/plan.h"

namespace partita {

struct ReferenceOptions {
  // Any host kernel may compute a node (kernel_binder.h).
  bool any_host_kernel = false;
  // Values of variables. A variable that is missing has its initial value.
  VariableValues variables;
  // The session's devices, by DeviceId. A device whose memory the host cannot
  // access computes its own nodes; the host computes all others, and all if
  // there are no devices.
  absl::Span<const std::unique_ptr<Device>> devices;
};

// Returns the outputs of one step, then the updates in their order, in the
// layouts of the graph. Every value has its own memory, in the host. Nodes run
// in graph order on the calling thread, each in all micro-batches. A correct
// plan always gives the same bits. Devices need room for one node beside the
// session's arenas.
absl::StatusOr<std::vector<HostTensor>> ReferenceRun(
    const Plan& plan, int entry, absl::Span<const void* const> inputs,
    const KernelLibraries& libraries, const ReferenceOptions& options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_
