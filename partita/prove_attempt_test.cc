// A plan whose graph is not the placed one is refused, by the link's name.
// SPDX-License-Identifier: Apache-2.0

#include "partita/prove_attempt.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compilation.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/strategies.h"
#include "runtime/plan/checker/check_plan.h"

namespace partita {
namespace {

constexpr char kNoProof[] =
    "bug: found no proof that bound graph = placed graph: choosing kernels for "
    "@main changed it: ";

Module Parsed() {
  auto module = ParseModule(R"(
graph @main(%x: f32[4, 8], %z: f32[4, 8]) -> f32[4, 8] {
  %p = softmax %x {axis = 0} : f32[4, 8]
  %y = sub %p, %z            : f32[4, 8]
  return %y
}
)",
                            "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// The first node of the op, in the graph or in a body.
Node* FindNode(Graph& graph, const OpDef& op) {
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (node.op == &op) return &node;
    for (const auto& body : node.regions) {
      if (Node* inside = FindNode(*body, op)) return inside;
    }
  }
  return nullptr;
}

// A compilation by `strategy`, up to its plan.
struct Planned {
  explicit Planned(absl::string_view strategy)
      : machine(EqualCpus(2, 1 << 26)),
        compilation(Parsed(), machine, options) {
    EXPECT_EQ(compilation.Optimise(), absl::OkStatus());
    for (const Planner& planner : Planners()) {
      if (planner.name != strategy) continue;
      auto tried = compilation.Try(planner);
      EXPECT_TRUE(tried.ok()) << tried.status();
      if (tried.ok()) attempt = *std::move(tried);
    }
    EXPECT_EQ(compilation.BuildCode(attempt.plan), absl::OkStatus());
  }
  const Machine machine;
  const CompileOptions options;
  Compilation compilation;
  Attempt attempt;
};

TEST(ProveAttemptTest, EveryLinkOfAPlanIsProved) {
  Planned planned("single");
  ASSERT_EQ(planned.compilation.Prove(planned.attempt), absl::OkStatus());
  EXPECT_EQ(planned.attempt.plan.certificate->proved.back(),
            "placed graph = optimised graph, from the dimension rules");
}

// The plan's checker sees only the bound graph, and proves such a plan.
TEST(ProveAttemptTest, AChangedBoundGraphIsRefusedByItsLink) {
  Planned planned("single");
  Plan& plan = planned.attempt.plan;
  Node* softmax = FindNode(plan.module.main(), kSoftmax);
  ASSERT_NE(softmax, nullptr);
  softmax->attributes.Set("axis", int64_t{1});
  EXPECT_TRUE(CheckPlan(plan).ok());
  const absl::Status refused = planned.compilation.Prove(planned.attempt);
  EXPECT_TRUE(absl::StartsWith(refused.message(), kNoProof)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "other attributes"))
      << refused;
  EXPECT_FALSE(plan.certificate.has_value());
}

// The placed graph follows from the placements that the strategy chose.
TEST(ProveAttemptTest, OtherPlacementsAreRefusedByTheirLink) {
  Planned planned("single");
  for (Placement& placement : planned.attempt.placements[0]) {
    for (std::string& device : placement.devices) device = "cpu:1";
  }
  const absl::Status refused = planned.compilation.Prove(planned.attempt);
  EXPECT_TRUE(absl::StartsWith(refused.message(), kNoProof)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "cpu:1")) << refused;
}

}  // namespace
}  // namespace partita
