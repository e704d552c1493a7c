// Finds the kernel that will compute a node: the plan's own, or the stated
// replacement for it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_KERNEL_BINDER_H_
#define PARTITA_RUNTIME_EXECUTOR_KERNEL_BINDER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/kernel.h"
#include "runtime/executor/session_report.h"

namespace partita {

// In order of preference. The libraries outlive everything bound by them.
using KernelLibraries = std::vector<const KernelLibrary*>;

struct HostKernel {
  std::unique_ptr<BoundKernel> kernel;
  KernelIdentity identity;
  // Bytes of scratch outside the arena that each launch needs; 0: the plan's
  // workspace serves.
  int64_t outside_scratch = 0;
  // If it is not the plan's own; of one command.
  std::optional<ReplacedKernel> replaced;
};

// The rule, decided once, at load:
//  1. The library that the plan names (KernelBinding::kernel up to the dot)
//     binds within the plan's workspace budget: the plan's kernel, or another
//     of its own that fits. If all need more, the load is refused with both
//     numbers; if it does not allow one of the plan's in-place pairs, with both
//     lists.
//  2. If it is not here, or cannot compute the node as placed, the first other
//     library that accepts the node within the budget does.
//     Where the plan lets a result take over an operand's bytes and the
//     replacement does not, that operand is copied out of the way first.
//  3. On a virtual device, where the plan's kernel is not here, any library of
//     the host may stand in, as for a CPU, and with scratch outside the arena
//     as large as it needs.
// The answer says whether the plan's kernel was replaced, also by one of its
// name in another arithmetic. What plays a GPU is no replacement.
// Errors name the node and every library that was asked.
absl::StatusOr<HostKernel> BindKernel(const BindRequest& request,
                                      const KernelLibraries& libraries,
                                      bool is_virtual);

// Adds `more` to `all`, commands of equal pairs to one another.
void AddReplacedKernels(absl::Span<const ReplacedKernel> more,
                        std::vector<ReplacedKernel>& all);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_KERNEL_BINDER_H_
