// The judge of every plan: its placed graph, one instance at a time, with the
// arithmetic that the plan binds.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_
#define PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/evaluate.h"
#include "graph/host_tensor.h"
#include "runtime/executor/kernel_binder.h"
#include "runtime/plan/plan.h"

namespace partita {

struct ReferenceOptions {
  // Kernels are replaced as on virtual devices (kernel_binder.h).
  bool virtual_devices = false;
  // Values of variables; those not named have their first values.
  VariableValues variables;
};

// The outputs of one step, then the updates in their order, in the layouts of
// the graph. Every value has memory of its own and everything happens in the
// order of the graph on the calling thread, each node in all micro-batches, so
// a correct plan's run has the same bits, always.
absl::StatusOr<std::vector<HostTensor>> ReferenceRun(
    const Plan& plan, int entry, absl::Span<const void* const> inputs,
    const KernelLibraries& libraries, const ReferenceOptions& options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_REFERENCE_RUN_H_
