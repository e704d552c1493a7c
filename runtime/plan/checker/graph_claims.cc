// Moves claims between the lists of a certificate.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/graph_claims.h"

#include "absl/strings/str_cat.h"

namespace partita {

std::string Assumed(const GraphClaim& claim) {
  return absl::StrCat(claim.claim,
                      ": only `compile` can prove it; the plan does not hold "
                      "the ",
                      claim.missing);
}

void AddProof(const GraphClaim& claim, absl::string_view how,
              Certificate& certificate) {
  std::erase(certificate.assumed, Assumed(claim));
  certificate.proved.push_back(absl::StrCat(claim.claim, how));
}

}  // namespace partita
