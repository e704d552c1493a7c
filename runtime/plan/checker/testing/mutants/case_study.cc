// Checks a study's plan.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/mutants/case_study.h"

#include <cstring>

#include "runtime/plan/checker/check_plan.h"

namespace partita {

std::string RefusalOf(const CaseStudy& study) {
  const absl::StatusOr<Certificate> certificate = CheckPlan(PlanOf(study.plan));
  if (certificate.ok()) return "proved";
  return std::string(certificate.status().message())
      .substr(0, std::strlen(study.message));
}

}  // namespace partita
