// All that is asked of a plan before it runs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

// Verifies the plan's module and proves the plan. A certificate that the plan
// carries proves nothing here; but one of this checker over another plan is a
// fault, as the file is not what it says. (Other checkers may hash another
// text.) Returns what was proved, without the hash; else InvalidArgument.
absl::StatusOr<Certificate> ProvePlan(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_
