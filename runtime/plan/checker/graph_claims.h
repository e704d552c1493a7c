// What a certificate claims about the graphs before the plan's own.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_GRAPH_CLAIMS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_GRAPH_CLAIMS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/plan/plan.h"

namespace partita {

// Two graphs compute the same. A plan holds neither the placed graph without
// kernels nor the optimised graph, so its checker assumes what `compile`
// proves.
struct GraphClaim {
  const char* claim;
  const char* missing;  // the graph that the plan does not hold
};
inline constexpr GraphClaim kBoundIsPlaced = {"bound graph = placed graph",
                                              "placed graph"};
inline constexpr GraphClaim kPlacedIsOptimised = {
    "placed graph = optimised graph", "optimised graph"};

// The claim as an assumption, with the reason.
std::string Assumed(const GraphClaim& claim);

// Makes the assumption a proved claim: a claim is in one list. `how` follows
// the claim: ", from the dimension rules".
void AddProof(const GraphClaim& claim, absl::string_view how,
              Certificate& certificate);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_GRAPH_CLAIMS_H_
