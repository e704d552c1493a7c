// Verifies the module, proves the plan, and compares the certificate, in this
// order.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/prove_plan.h"

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "graph/verifier.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_hash.h"

namespace partita {
namespace {

absl::Status CompareHash(const Plan& plan, const Certificate& proved) {
  if (!plan.certificate.has_value() ||
      plan.certificate->checker != proved.checker) {
    return absl::OkStatus();
  }
  const std::string hash = PlanHash(plan);
  if (plan.certificate->plan_hash == hash) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "plan @", plan.name, ": found a certificate over the hash ",
      plan.certificate->plan_hash, "; expected ", hash,
      ", which this plan has; it was changed after it was certified: compile "
      "it again, or remove the certificate"));
}

}  // namespace

absl::StatusOr<Certificate> ProvePlan(const Plan& plan) {
  PARTITA_RETURN_IF_ERROR(VerifyModule(plan.module));
  PARTITA_ASSIGN_OR_RETURN(Certificate proved, CheckPlan(plan));
  PARTITA_RETURN_IF_ERROR(CompareHash(plan, proved));
  return proved;
}

}  // namespace partita
