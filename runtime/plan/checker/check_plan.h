// The independent proof that a plan computes its placed graph, within memory,
// without races, and ends. Shares no code with what makes plans.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/plan.h"

namespace partita {

// In certificates; the number rises when what is proved changes.
inline constexpr char kCheckerName[] = "partita checker 2";

// What was proved, or InvalidArgument with the first 20 findings. The graphs of
// the plan must have passed Verify; everything else may be hostile. The
// certificate's plan_hash is left to whoever has the plan's text.
absl::StatusOr<Certificate> CheckPlan(const Plan& plan);

// All findings, up to a bound; none means that the plan is proved. An
// obligation is looked at only when those that it builds on have no findings.
std::vector<Finding> FindFaults(const Plan& plan, CheckOptions options = {});

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CHECK_PLAN_H_
