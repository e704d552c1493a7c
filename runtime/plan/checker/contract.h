// Contract: what a plan assumes of its devices, compared with those at hand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/device_traits.h"
#include "runtime/plan/plan.h"

namespace partita {

// A device of the machine that loads a plan, and the bytes free for its arena.
struct ActualDevice {
  DeviceTraits traits;
  int64_t memory = 0;
};

// Device i of the plan against `actual[i]`: kind, instruction set, threads and
// memory. FailedPrecondition, or ResourceExhausted for memory, with every
// difference. Rates are predictions and are not compared.
absl::Status CheckContract(const Plan& plan,
                           absl::Span<const ActualDevice> actual);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CONTRACT_H_
