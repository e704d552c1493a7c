// Contract: compares the plan's target with the present host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/host_capacity.h"
#include "runtime/plan/plan.h"

namespace partita {

// Of the plan's devices that share the host, each needs its instruction set,
// and all together need their threads and arenas. Reports all differences at
// once: Unavailable if the kind of a device is not one of `runnable`, which
// this build can run, else ResourceExhausted if memory is short, else
// FailedPrecondition. A device with memory of its own needs kernels with code:
// FailedPrecondition for cost-only ones (graph/kernel_id.h). Does not compare
// rates, because they are predictions.
// Needs: a plan that passed the checker.
absl::Status CheckContract(const Plan& plan, const HostCapacity& host,
                           absl::Span<const DeviceKind> runnable);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
