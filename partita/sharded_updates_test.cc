// Which updates count as sharded.
// SPDX-License-Identifier: Apache-2.0

#include "partita/sharded_updates.h"

#include <gtest/gtest.h>

#include "graph/text/parser.h"

namespace partita {
namespace {

// Two weights and the optimizer's state of one: @gathered is computed in
// shards, and so is @momentum, which is stored in shards; both devices compute
// @whole.
constexpr char kStep[] = R"(
variable @gathered: f32[4] trainable
variable @momentum: f32[4]
variable @whole: f32[4] trainable
graph @f(%g: f32[4] on {cpu:0, cpu:1} -> (replicated)) -> f32[4] {
  %p = variable {dtype = f32, name = "momentum", shape = [4]} : f32[4]
      on {cpu:0, cpu:1} -> (split 0)
  %w = variable {dtype = f32, name = "whole", shape = [4]} : f32[4]
      on {cpu:0, cpu:1}
  %s = copy %g : f32[4] on {cpu:0, cpu:1} (replicated) -> (split 0)
  %m = add %p, %s : f32[4] on {cpu:0, cpu:1} (split 0, split 0) -> (split 0)
  %n = copy %m : f32[4] on {cpu:0, cpu:1} (split 0) -> (replicated)
  %v = add %w, %g : f32[4] on {cpu:0, cpu:1}
  update @gathered = %n
  update @momentum = %m
  update @whole = %v
  return %v
}
)";

TEST(ShardedUpdates, AreThoseOfWeightsThatAreGathered) {
  const auto module = ParseModule(kStep, "test.graph", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const ShardedUpdates updates = CountShardedUpdates(*module, module->main());
  EXPECT_EQ(updates.sharded, 1);
  EXPECT_EQ(updates.all, 2);
}

}  // namespace
}  // namespace partita
