// Tests that passes take bounded time and memory on adversarial graphs.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "passes/fold_constants.h"
#include "passes/merge_duplicates.h"

namespace partita {
namespace {

class BoundedWork : public ::testing::Test {
 protected:
  ValueId Number(float number) {
    HostTensor scalar{TensorType()};
    scalar.data<float>()[0] = number;
    return graph_.AddConstant(literals_.Add(std::move(scalar)));
  }
  ValueId Expanded(ValueId x, int64_t elements) {
    return *graph_.AddValue(
        {.op = &kExpand,
         .operands = {x},
         .attributes = {{"shape", std::vector<int64_t>{elements}}}});
  }
  int64_t LiteralBytes() const {
    int64_t bytes = 0;
    for (int i = 0; i < literals_.size(); ++i) {
      bytes += literals_.type(LiteralId(i)).num_bytes();
    }
    return bytes;
  }

  LiteralPool literals_;
  Graph graph_{"f", &literals_};
};

// One number, expanded to 4 MiB, and a long chain of nodes that are no larger
// than their operands.
TEST_F(BoundedWork, TotalFoldedBytesAreBounded) {
  ValueId value = Expanded(Number(1), 1 << 20);
  for (int i = 0; i < 200; ++i) {
    value = *graph_.AddValue({.op = &kNeg, .operands = {value}});
  }
  graph_.SetOutputs({value});
  const int64_t budget = FoldingBudget(graph_);
  EXPECT_EQ(budget, (64 << 20) + 16 * 4);
  ASSERT_TRUE(FoldConstants(graph_).ok());
  EXPECT_LE(LiteralBytes(), 4 + budget);
  EXPECT_EQ(graph_.ops(kNeg).size(), 185u);  // 16 results of 4 MiB fit
}

TEST_F(BoundedWork, TheFoldingBudgetGrowsWithTheModel) {
  const ValueId weights = graph_.AddConstant(
      literals_.Add(HostTensor(TensorType{DType::kF32, {1000}, {}})));
  // The same bytes under a second name do not make the model larger.
  graph_.AddConstant(
      graph_.view(graph_.value(weights).defining_node).attr_literal("value"));
  EXPECT_EQ(FoldingBudget(graph_), (64 << 20) + 16 * 4000);
}

TEST_F(BoundedWork, ConstantsOfOneTypeAreNotComparedPairwise) {
  constexpr int kNumbers = 20000;
  for (int i = 0; i < kNumbers; ++i) Number(i);
  for (int i = 0; i < 10; ++i) Number(i);  // seen before
  int64_t comparisons = 0;
  ASSERT_TRUE(MergeDuplicates(graph_, comparisons).ok());
  EXPECT_EQ(graph_.num_nodes(), kNumbers);
  EXPECT_GE(comparisons, 10);
  EXPECT_LT(comparisons, 20);
}

TEST_F(BoundedWork, EmptyConstantsOfManyTypesAreNotComparedPairwise) {
  for (int i = 0; i < 2000; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      graph_.AddConstant(
          literals_.Add(HostTensor(TensorType{DType::kF32, {0, i}, {}})));
    }
  }
  int64_t comparisons = 0;
  ASSERT_TRUE(MergeDuplicates(graph_, comparisons).ok());
  EXPECT_EQ(graph_.num_nodes(), 2000);
  EXPECT_LT(comparisons, 2100);
}

TEST_F(BoundedWork, NodesThatDifferInAttributesAreNotComparedPairwise) {
  const ValueId x = graph_.AddInput("x", {DType::kF32, {2}, {}});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(graph_
                    .AddNode({.op = &kLeakyRelu,
                              .operands = {x},
                              .attributes = {{"alpha", 0.5 + i}}})
                    .ok());
  }
  int64_t comparisons = 0;
  ASSERT_TRUE(MergeDuplicates(graph_, comparisons).ok());
  EXPECT_EQ(graph_.num_nodes(), 5000);
  EXPECT_LT(comparisons, 10);
}

}  // namespace
}  // namespace partita
