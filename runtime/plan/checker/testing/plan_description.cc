// Parses the text, then checks the plan.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/plan_description.h"

#include "absl/strings/str_replace.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {

std::string CheckerVerdict(const TextChanges& changes, absl::string_view text) {
  absl::StatusOr<Plan> plan = ParsePlan(absl::StrReplaceAll(text, changes),
                                        "mlp.plan", OpSet::BuiltIn());
  if (!plan.ok()) return std::string(plan.status().message());
  const absl::StatusOr<Certificate> certificate = CheckPlan(*plan);
  return certificate.ok() ? "proved"
                          : std::string(certificate.status().message());
}

}  // namespace partita
