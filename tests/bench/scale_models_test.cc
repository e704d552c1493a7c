// Tests that models have the number of nodes that a benchmark asks for.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scale_models.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(ScaleModels, HaveAtLeastTheNodesAndAtMostOneBlockMore) {
  for (int nodes : {1, 32, 33, 1'056}) {
    const auto layered = LayeredModel(nodes, 4);
    ASSERT_TRUE(layered.ok()) << layered.status();
    EXPECT_GE(NodesOf(*layered), nodes);
    EXPECT_LT(NodesOf(*layered), nodes + 32);
  }
  const auto training = TrainingModel(1'056, 4);
  ASSERT_TRUE(training.ok()) << training.status();
  EXPECT_GE(NodesOf(*training), 1'056);
}

TEST(ScaleModels, NeedPositiveCounts) {
  EXPECT_EQ(LayeredModel(0, 4).status().message(),
            "model: found 0 nodes and a batch of 4; expected positive counts");
  EXPECT_FALSE(TrainingModel(10, 0).ok());
}

}  // namespace
}  // namespace partita
