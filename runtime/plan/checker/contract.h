// Contract: what a plan assumes of its target, compared with the host at hand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_

#include "absl/status/status.h"
#include "graph/host_capacity.h"
#include "runtime/plan/plan.h"

namespace partita {

// The plan's CPU devices share the host: each needs its instruction set, all
// together their threads and their arenas. Every difference is told at once:
// Unavailable if a device is of a kind that no runtime drives, else
// ResourceExhausted if memory is short, else FailedPrecondition. Rates are
// predictions and are not compared. For plans that passed the checker.
absl::Status CheckContract(const Plan& plan, const HostCapacity& host);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
