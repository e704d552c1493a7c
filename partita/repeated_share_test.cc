// Which nodes count as repeated.
// SPDX-License-Identifier: Apache-2.0

#include "partita/repeated_share.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/text/parser.h"

namespace partita {
namespace {

// A node's seconds are in its result's name. It runs four times if the name
// begins with m.
double ShareOf(const std::string& body) {
  const std::string text =
      "variable @w: f32[4] trainable\n"
      "graph @f(%x: f32[8, 4]) -> f32[4] {\n"
      "  %w = variable {dtype = f32, name = \"w\", shape = [4]} : f32[4]\n"
      "      on {cpu:0, cpu:1}\n" +
      body + "}\n";
  const auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  const Graph& graph = module->main();
  std::vector<PricedNode> chosen;
  std::vector<int> runs(graph.node_id_bound(), 1);
  for (const OpView& op : graph.ops()) {
    if (op.is(kVariable)) continue;
    const double seconds = op.result(0).name().back() - '0';
    chosen.push_back({op.id(), seconds, false});
    if (op.result(0).name().front() == 'm') runs[op.id().index] = 4;
  }
  return RepeatedShare(graph, chosen, runs);
}

// A gradient, its product with the variable, and the update with that.
constexpr char kUpdate[] = R"(
  %g1 = reduce_sum %x {axes = [0], keep_dims = false} : f32[4]
      on {cpu:0, cpu:1}
  %s3 = mul %g1, %w : f32[4] on {cpu:0, cpu:1}
  %n4 = sub %w, %s3 : f32[4] on {cpu:0, cpu:1}
  update @w = %n4
)";

TEST(RepeatedShare, UpdatesAreRepeatedOnPurpose) {
  EXPECT_EQ(ShareOf(absl::StrCat(kUpdate, "  return %g1\n")), 1.0 / 8);
}

TEST(RepeatedShare, WhatIsReadElsewhereIsNoUpdate) {
  EXPECT_EQ(ShareOf(absl::StrCat(kUpdate, "  return %s3\n")), 4.0 / 8);
}

// A gradient also ends in a variable only, but reads none.
TEST(RepeatedShare, GradientsCount) {
  EXPECT_EQ(ShareOf(R"(
  %g1 = reduce_sum %x {axes = [0], keep_dims = false} : f32[4]
      on {cpu:0, cpu:1}
  %n4 = sub %w, %g1 : f32[4] on {cpu:0, cpu:1}
  %y5 = neg %x : f32[8, 4] on {cpu:0, cpu:1} (split 0) -> (split 0)
  %z0 = reduce_sum %y5 {axes = [0], keep_dims = false} : f32[4] on cpu:0
  update @w = %n4
  return %z0
)"),
            1.0 / 10);
}

// Each device adds summands of its own, from four micro-batches.
TEST(RepeatedShare, PartialSumsDoNotCount) {
  EXPECT_EQ(ShareOf(R"(
  %m1 = reduce_sum %x {axes = [0], keep_dims = false} : f32[4]
      on {cpu:0, cpu:1} (split 0) -> (partial sum)
  %s2 = accumulate %m1 {micro_batches = 4} : f32[4]
      on {cpu:0, cpu:1} (partial sum) -> (partial sum)
  %a0 = copy %s2 : f32[4] on {cpu:0, cpu:1} (partial sum) -> (replicated)
  %m2 = neg %x : f32[8, 4] on {cpu:0, cpu:1}
  %z1 = neg %a0 : f32[4] on {cpu:0, cpu:1}
  return %z1
)"),
            9.0 / 15);
}

// The gradient of the first layer's variables reads those of the second.
TEST(RepeatedShare, GradientsThroughALayerCount) {
  EXPECT_EQ(ShareOf(R"(
  %y2 = mul %x, %w : f32[8, 4] on {cpu:0, cpu:1}
  %d3 = neg %y2 : f32[8, 4] on {cpu:0, cpu:1}
  %g1 = reduce_sum %d3 {axes = [0], keep_dims = false} : f32[4]
      on {cpu:0, cpu:1}
  %n4 = sub %w, %g1 : f32[4] on {cpu:0, cpu:1}
  %z0 = reduce_sum %x {axes = [0], keep_dims = false} : f32[4] on cpu:0
  update @w = %n4
  return %z0
)"),
            6.0 / 10);
}

}  // namespace
}  // namespace partita
