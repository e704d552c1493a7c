// One proof a link, from the source on.
// SPDX-License-Identifier: Apache-2.0

#include "partita/prove_attempt.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "binding/verify_binding.h"
#include "graph/graph.h"
#include "graph/status_macros.h"
#include "partita/placed_graph.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/graph_claims.h"
#include "runtime/plan/plan_hash.h"

namespace partita {
namespace {

absl::Status WithLink(const GraphClaim& link, const absl::Status& proof) {
  if (proof.ok()) return proof;
  return absl::InternalError(
      absl::StrCat("bug: found no proof that ", link.claim, ": ",
                   absl::StripPrefix(proof.message(), "bug: ")));
}

absl::Status ProveBindings(const std::vector<std::unique_ptr<Graph>>& placed,
                           const Module& bound) {
  for (size_t i = 0; i < placed.size(); ++i) {
    PARTITA_RETURN_IF_ERROR(VerifyBinding(*placed[i], *bound.functions()[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ProveAttempt(const SourceModule& source,
                          const CompileTarget& target, Attempt& attempt) {
  Plan& plan = attempt.plan;
  const absl::StatusOr<std::vector<std::unique_ptr<Graph>>> placed =
      PlacedGraphs(source, target, attempt.placements, plan.module.literals());
  PARTITA_RETURN_IF_ERROR(WithLink(kPlacedIsOptimised, placed.status()));
  PARTITA_RETURN_IF_ERROR(
      WithLink(kBoundIsPlaced, ProveBindings(*placed, plan.module)));
  absl::StatusOr<Certificate> certificate = CheckPlan(plan);
  if (!certificate.ok()) {
    return absl::InternalError(
        absl::StrCat("bug: the checker refuses the plan that this compiler "
                     "made: ",
                     certificate.status().message()));
  }
  AddProof(kBoundIsPlaced, "", *certificate);
  AddProof(kPlacedIsOptimised, ", from the dimension rules", *certificate);
  certificate->plan_hash = PlanHash(plan);
  plan.certificate = *std::move(certificate);
  return absl::OkStatus();
}

}  // namespace partita
