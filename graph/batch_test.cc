// Tests which inputs hold the samples.
// SPDX-License-Identifier: Apache-2.0

#include "graph/batch.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

std::string BatchIn(const std::string& text,
                    const std::vector<std::string>& names = {}) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  const Graph& graph = module->main();
  return BatchText(graph, FindBatch(graph, names));
}

TEST(Batch, WeightsOfItsExtentAreNoSamples) {
  EXPECT_EQ(BatchIn(R"(graph @f(%x: f32[8, 8], %w: f32[8, 3]) -> f32[8, 3] {
  %y = matmul %x, %w : f32[8, 3]
  return %y
}
)"),
            "x f32[8, 8]");
}

TEST(Batch, WeightsReadFirstOrThroughOtherNodesAreNoSamples) {
  EXPECT_EQ(BatchIn(R"(graph @f(%x: f32[8, 8], %w: f32[8, 8]) -> f32[8, 8] {
  %v = relu %w : f32[8, 8]
  %t = transpose %v {perm = [1, 0]} : f32[8, 8]
  %xt = transpose %x {perm = [1, 0]} : f32[8, 8]
  %yt = matmul %t, %xt : f32[8, 8]
  %y = transpose %yt {perm = [1, 0]} : f32[8, 8]
  return %y
}
)"),
            "x f32[8, 8]");
}

TEST(Batch, ABiasOfItsExtentIsNoSample) {
  EXPECT_EQ(BatchIn(R"(graph @f(%x: f32[8, 8], %b: f32[8]) -> f32[8, 8] {
  %y = add %b, %x : f32[8, 8]
  return %y
}
)"),
            "x f32[8, 8]");
}

TEST(Batch, MasksAreSamplesAndPositionsAreNot) {
  EXPECT_EQ(
      BatchIn(
          R"(graph @f(%x: f32[8, 8, 4], %p: f32[8, 4], %m: f32[8, 1, 1]) -> f32[8, 8, 4] {
  %a = add %x, %p : f32[8, 8, 4]
  %y = mul %a, %m : f32[8, 8, 4]
  return %y
}
)"),
      "x f32[8, 8, 4] and m f32[8, 1, 1]");
}

// In this training step features, classes and the state have the batch's extent
// too.
TEST(Batch, OfATrainingStepIsSamplesAndLabels) {
  EXPECT_EQ(
      BatchIn(
          R"(graph @f(%x: f32[8, 8], %w: f32[8, 8], %s: f32[8, 8], %t: f32[8, 8], %b: f32[8]) -> (f32[8, 8], f32[8, 8]) {
  %h = matmul %x, %w : f32[8, 8]
  %y = add %h, %b : f32[8, 8]
  %d = sub %y, %t : f32[8, 8]
  %xt = transpose %x {perm = [1, 0]} : f32[8, 8]
  %g = matmul %xt, %d : f32[8, 8]
  %m = add %s, %g : f32[8, 8]
  %n = sub %w, %m : f32[8, 8]
  return %n, %m
}
)"),
      "x f32[8, 8] and t f32[8, 8]");
}

TEST(Batch, InputsNotCombinedWithSamplesMayHoldSamples) {
  EXPECT_EQ(
      BatchIn(
          R"(graph @f(%x: f32[8], %i: f32[8, 2], %j: f32[8, 3], %k: f32[8, 2]) -> (f32[8], f32[8, 2], f32[3, 8], f32[8, 2]) {
  %a = relu %x : f32[8]
  %b = relu %i : f32[8, 2]
  %c = transpose %j {perm = [1, 0]} : f32[3, 8]
  %d = softmax %k {axis = 0} : f32[8, 2]
  return %a, %b, %c, %d
}
)"),
      "x f32[8] and i f32[8, 2]");
}

TEST(Batch, InputsCombinedWithOrUpdatingVariablesHoldNoSamples) {
  EXPECT_EQ(BatchIn(R"(variable @v: f32[2] = f32[2] [0, 0]
variable @u: f32[2] = f32[2] [0, 0]

graph @f(%x: f32[2], %i: f32[2], %j: f32[2]) -> f32[2] {
  %v = variable {dtype = f32, name = "v", shape = [2]} : f32[2]
  %y = relu %x : f32[2]
  %n = add %v, %i : f32[2]
  %m = relu %j : f32[2]
  update @v = %n
  update @u = %m
  return %y
}
)"),
            "x f32[2]");
}

constexpr char kTable[] =
    R"(graph @f(%table: f32[6, 3], %ids: i32[4], %m: f32[4, 3], %a: f32[]) -> f32[4, 3] {
  %e = gather %table, %ids {axis = 0} : f32[4, 3]
  %s = mul %e, %a : f32[4, 3]
  %y = mul %s, %m : f32[4, 3]
  return %y
}
)";

TEST(Batch, IsThatOfTheNamedInputs) {
  EXPECT_EQ(BatchIn(kTable), "table f32[6, 3]");
  EXPECT_EQ(BatchIn(kTable, {"m", "ids"}), "ids i32[4] and m f32[4, 3]");
}

TEST(Batch, OfUnknownNamesIsThatOfNoNames) {
  EXPECT_EQ(BatchIn(kTable, {"x"}), "table f32[6, 3]");
}

TEST(Batch, OfScalarsIsOne) {
  EXPECT_EQ(BatchIn(R"(graph @f(%a: f32[]) -> f32[] {
  %y = relu %a : f32[]
  return %y
}
)"),
            "");
}

}  // namespace
}  // namespace partita
