// Which function decides where variables are stored.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/variable_homes.h"

#include <gtest/gtest.h>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"

namespace partita {
namespace {

// @tell has the most flops, and @step more than @reset.
Module Parsed() {
  auto module = ParseModule(R"(
variable @w: f32[4] = f32[4] [1, 2, 3, 4]
variable @fixed: f32[4] = f32[4] [1, 2, 3, 4]

graph @tell(%x: f32[9, 4]) -> f32[9, 4] {
  %w = variable {dtype = f32, name = "w", shape = [4]} : f32[4]
  %fixed = variable {dtype = f32, name = "fixed", shape = [4]} : f32[4]
  %y = mul %x, %w : f32[9, 4]
  %z = mul %y, %fixed : f32[9, 4]
  return %z
}
graph @reset() -> f32[4] {
  %w = variable {dtype = f32, name = "w", shape = [4]} : f32[4]
  %n = sub %w, %w : f32[4]
  update @w = %n
  return %n
}
graph @step(%x: f32[4]) -> f32[4] {
  %w = variable {dtype = f32, name = "w", shape = [4]} : f32[4]
  %d = mul %x, %w : f32[4]
  %n = sub %w, %d : f32[4]
  update @w = %n
  return %n
}
)",
                            "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

TEST(VariableHomes, FunctionsThatUpdateDecideFirst) {
  EXPECT_EQ(DecidingOrder(Parsed()), (std::vector<int>{2, 1, 0}));
}

TEST(VariableHomes, OtherFunctionsGetDecidedHomes) {
  Module module = Parsed();
  VariableHomes homes = HomesToDecide(module);
  ASSERT_EQ(homes.size(), 1u);
  EXPECT_FALSE(homes.at("w").placed());
  Graph& step = *module.functions()[2];
  Graph& tell = *module.functions()[0];
  EXPECT_FALSE(WriteHomes(homes, tell));

  step.node(step.ops(kVariable)[0].id()).placement.devices = {"gpu:1"};
  DecideHomes(step, homes);
  EXPECT_TRUE(WriteHomes(homes, tell));
  const std::vector<OpView> variables = tell.ops(kVariable);
  EXPECT_EQ(variables[0].node().placement, homes.at("w"));
  EXPECT_EQ(variables[0].node().placement.devices[0], "gpu:1");
  EXPECT_FALSE(variables[1].node().placement.placed());
}

}  // namespace
}  // namespace partita
