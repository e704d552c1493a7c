// All checks of a plan before it runs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

// Verifies the plan's module and proves the plan. A certificate in the plan is
// not trusted. But a certificate of this checker over another plan is a fault,
// because the file was changed. (Other checkers may hash another text.) Returns
// what was proved, without the hash, or InvalidArgument.
absl::StatusOr<Certificate> ProvePlan(const Plan& plan);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PROVE_PLAN_H_
