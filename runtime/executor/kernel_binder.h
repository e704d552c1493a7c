// Finds the kernel that computes a node: the plan's own, or a reported
// replacement.
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

// In order of preference. The libraries outlive all kernels that they bind.
using KernelLibraries = std::vector<const KernelLibrary*>;

// The rule, applied once, at load:
//  1. The library that the plan names (KernelBinding::kernel up to the dot)
//     binds the plan's kernel, or another of its own, within the plan's
//     workspace budget. If all need more, the load fails with both numbers. If
//     the plan's kernel, with an arithmetic of the plan, forbids one of the
//     plan's in-place pairs, the load fails with both lists.
//  2. If that library is missing, or cannot compute the node as placed, the
//     first other library that accepts the node within the budget binds it. If
//     the plan lets a result overwrite an operand and a replacement, of either
//     rule, cannot work in place, the operand is copied first.
//  3. If `any_host_kernel` may compute for the device, and no library has the
//     plan's kernel, any host library may bind a kernel that emulates it, with
//     as much scratch outside the arena as needed.
// Host libraries refuse a device that runs no host code, except under rule 3.
// Errors name the node and every library that was asked.
absl::StatusOr<BoundKernel> BindKernel(const BindRequest& request,
                                       const KernelLibraries& libraries,
                                       bool any_host_kernel);

// Counts one command if `bound` replaces the plan's kernel; also if it has the
// same name and another arithmetic. A host kernel that emulates a GPU kernel is
// not a replacement.
std::optional<ReplacedKernel> ReplacementOf(const BindRequest& request,
                                            const BoundKernel& bound);

// Adds `more` to `all`, and adds up the commands of equal pairs.
void AddReplacedKernels(absl::Span<const ReplacedKernel> more,
                        std::vector<ReplacedKernel>& all);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_KERNEL_BINDER_H_
