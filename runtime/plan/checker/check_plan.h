// Proves independently that a plan computes its bound graph, within its
// memory, without races, and terminates. Shares no code with what makes plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/plan.h"

namespace partita {

// Printed in certificates. The number rises when the proof changes.
inline constexpr char kCheckerName[] = "partita checker 2";

// Returns what was proved, or InvalidArgument with the first 20 findings. The
// plan's graphs must have passed Verify; everything else in the plan may be
// hostile. The caller that has the plan's text fills in `plan_hash`.
absl::StatusOr<Certificate> CheckPlan(const Plan& plan);

// All findings, up to a bound; empty if the plan is proved. An obligation is
// checked only if the obligations that it builds on have no findings.
std::vector<Finding> FindFaults(const Plan& plan, CheckOptions options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_
