// The source passes on a whole model.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "graph/builder/examples/models.h"
#include "graph/evaluate.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/verifier.h"
#include "passes/pipeline.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

std::map<std::string, int> CountOps(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const OpView& op : graph.ops()) ++counts[std::string(op.op_name())];
  return counts;
}

TEST(ResNet50Pipeline, NormsAreFoldedAndEveryConvolutionEndsInItsActivation) {
  absl::StatusOr<Module> module = ResNet50({.image = 32, .classes = 10});
  ASSERT_TRUE(module.ok()) << module.status();
  const Graph& before = module->main();
  EXPECT_EQ(CountOps(before)["batch_norm"], 53);
  EXPECT_EQ(CountOps(before)["conv"], 53);
  EXPECT_EQ(CountOps(before)["relu"], 49);

  const auto after = before.Clone(&module->literals());
  const absl::Status status = RunPipeline(SourcePasses(), {}, *after);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(Verify(*after).ok()) << Verify(*after);
  std::map<std::string, int> counts = CountOps(*after);
  // Four shortcuts have nothing to fuse; 49 convolutions and the last matmul
  // do.
  EXPECT_EQ(counts["conv"], 4);
  EXPECT_EQ(counts["fused"], 50);
  EXPECT_EQ(counts["batch_norm"], 0);
  EXPECT_EQ(counts["mul"], 0);
  EXPECT_EQ(counts["add"], 0);
  EXPECT_EQ(counts["relu"], 0);

  const std::vector<HostTensor> inputs = RandomInputs(before, 1);
  auto expected = Evaluate(before, inputs);
  auto found = Evaluate(*after, inputs);
  ASSERT_TRUE(expected.ok() && found.ok());
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(GetAsDouble((*found)[0], i), GetAsDouble((*expected)[0], i),
                1e-4);
  }
}

}  // namespace
}  // namespace partita
