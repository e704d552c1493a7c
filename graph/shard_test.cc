// Tests the shards that ranks of a device set hold and compute.
// SPDX-License-Identifier: Apache-2.0

#include "graph/shard.h"

#include <memory>
#include <numeric>
#include <vector>

#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

HostTensor Counting(Shape dims, Layout layout = {}) {
  HostTensor row_major(TensorType{DType::kF32, dims, {}});
  auto data = row_major.data<float>();
  std::iota(data.begin(), data.end(), 1.0f);
  HostTensor tensor(TensorType{DType::kF32, std::move(dims), layout});
  ConvertLayout(row_major, tensor);
  return tensor;
}

TEST(ShardTest, ShardingsAreEqualIfTheFieldsOfTheirKindAre) {
  using Kind = Sharding::Kind;
  const Sharding rows{.kind = Kind::kSplit, .dim = 0, .unit = 2};
  EXPECT_EQ((Sharding{.dim = 1, .unit = 2}), Sharding());
  EXPECT_EQ((Sharding{.kind = Kind::kPartial, .dim = 1}),
            (Sharding{.kind = Kind::kPartial}));
  EXPECT_NE(rows, (Sharding{.kind = Kind::kSplit, .dim = 1, .unit = 2}));
  EXPECT_NE(rows, (Sharding{.kind = Kind::kSplit, .dim = 0, .unit = 1}));
  EXPECT_NE((Sharding{.kind = Kind::kPartial}),
            (Sharding{.kind = Kind::kPartial, .reduction = Reduction::kMax}));
}

TEST(ShardTest, UnevenShardsMakeUpTheWholeInAnyLayout) {
  for (const char* letters : {"", "ba", "ab4b"}) {
    const Layout layout = *letters == 0 ? Layout() : *ParseLayout(letters, 2);
    const HostTensor whole = Counting({5, 7}, layout);
    for (int dim : {0, 1}) {
      const Sharding split = {Sharding::Kind::kSplit, dim};
      std::vector<HostTensor> shards;
      std::vector<const HostTensor*> pointers;
      for (int m = 0; m < 3; ++m) {
        shards.push_back(ShardOf(whole, split, m, 3));
      }
      for (const HostTensor& part : shards) pointers.push_back(&part);
      const HostTensor joined = JoinShards(whole.type(), split, pointers);
      EXPECT_EQ(joined.byte_span(), whole.byte_span()) << letters << dim;
    }
  }
}

TEST(ShardTest, ARankGetsItsRows) {
  const HostTensor part =
      ShardOf(Counting({5, 2}), {Sharding::Kind::kSplit, 0}, 1, 2);
  EXPECT_EQ(part.type().ToString(), "f32[3, 2]");
  EXPECT_EQ(part.data<float>()[0], 5);
}

// A node on two ranks, with one operand and one result split along `dim`.
struct ShardedGraph {
  ShardedGraph(const OpDef& op, Shape dims, Attributes attributes, int dim)
      : graph("f", &literals) {
    const ValueId x = graph.AddInput("x", {DType::kF32, std::move(dims), {}});
    node = *graph.AddNode({.op = &op,
                           .operands = {x},
                           .attributes = std::move(attributes),
                           .result_names = {"y"}});
    Placement& placement = graph.node(node).placement;
    placement.devices = {"cpu:0", "cpu:1"};
    placement.operands = {{Sharding::Kind::kSplit, dim}};
    placement.results = {{Sharding::Kind::kSplit, dim}};
  }
  LiteralPool literals;
  Graph graph;
  NodeId node;
};

TEST(ShardTest, ResultsOfRanksMakeUpTheNodesResult) {
  Attributes axis;
  axis.Set("axis", int64_t{1});
  ShardedGraph f(kSoftmax, {5, 3}, axis, 0);
  const OpView node = f.graph.view(f.node);
  ASSERT_TRUE(IsSharded(node));
  const HostTensor x = Counting({5, 3});
  const Sharding rows = {Sharding::Kind::kSplit, 0};
  std::vector<HostTensor> shards;
  for (int m = 0; m < 2; ++m) {
    auto shard = ShardOfNode(node, m);
    ASSERT_TRUE(shard.ok()) << shard.status();
    const std::vector<OpView> ops = (*shard)->ops();
    ASSERT_EQ(ops.size(), 1u);
    std::vector<HostTensor> operands;
    operands.push_back(ShardOf(x, rows, m, 2));
    auto results = EvaluateNode(ops[0], operands);
    ASSERT_TRUE(results.ok()) << results.status();
    shards.push_back(std::move((*results)[0]));
  }
  std::vector<HostTensor> operands;
  operands.push_back(x.Clone());
  auto whole = EvaluateNode(node, operands);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(JoinShards((*whole)[0].type(), rows, {&shards[0], &shards[1]})
                .byte_span(),
            (*whole)[0].byte_span());
}

// softmax(relu(x)) over rows of 3: each rank runs the body on its rows.
TEST(ShardTest, AShardOfAFusedNodeHasAShardOfItsBody) {
  ShardedGraph f(kRelu, {5, 3}, {}, 0);
  auto body = std::make_unique<Graph>("body", &f.literals);
  const ValueId x = body->AddInput("x", {DType::kF32, {5, 3}, {}});
  const ValueId positive = *body->AddValue({.op = &kRelu, .operands = {x}});
  Attributes axis;
  axis.Set("axis", int64_t{1});
  body->SetOutputs({*body->AddValue(
      {.op = &kSoftmax, .operands = {positive}, .attributes = axis})});
  NodeSpec spec{.op = &kFused, .operands = {f.graph.inputs()[0]}};
  spec.regions.push_back(std::move(body));
  spec.placement = f.graph.node(f.node).placement;
  const OpView node = f.graph.view(*f.graph.AddNode(std::move(spec)));
  const Sharding rows = {Sharding::Kind::kSplit, 0};
  const HostTensor whole = Counting({5, 3});
  std::vector<HostTensor> shards;
  for (int m = 0; m < 2; ++m) {
    const auto shard = ShardOfNode(node, m);
    ASSERT_TRUE(shard.ok()) << shard.status();
    std::vector<HostTensor> operands;
    operands.push_back(ShardOf(whole, rows, m, 2));
    auto results = EvaluateNode((*shard)->ops().front(), operands);
    ASSERT_TRUE(results.ok()) << results.status();
    shards.push_back(std::move((*results)[0]));
  }
  std::vector<HostTensor> operands;
  operands.push_back(whole.Clone());
  const auto expected = EvaluateNode(node, operands);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(
      JoinShards(whole.type(), rows, {&shards[0], &shards[1]}).byte_span(),
      (*expected)[0].byte_span());
}

bool SameShard(const OpView& a, const OpView& b) {
  return a.operand_type(0) == b.operand_type(0) &&
         a.result_type(0) == b.result_type(0) &&
         a.node().attributes == b.node().attributes;
}

// The ranks with other shards; checks that all others have an equal one.
std::vector<bool> OthersOf(const ShardedGraph& f) {
  const OpView node = f.graph.view(f.node);
  const std::vector<bool> others =
      RanksWithOtherShards(node, node.node().placement);
  for (size_t rank = 1; rank < others.size(); ++rank) {
    const auto before = ShardOfNode(node, static_cast<int>(rank) - 1);
    const auto here = ShardOfNode(node, static_cast<int>(rank));
    EXPECT_TRUE(before.ok() && here.ok());
    if (others[rank] || !before.ok() || !here.ok()) continue;
    EXPECT_TRUE(SameShard((*before)->ops()[0], (*here)->ops()[0])) << rank;
  }
  return others;
}

TEST(ShardTest, RanksWithOtherShardsHaveOtherExtentsOrAttributes) {
  Attributes axis;
  axis.Set("axis", int64_t{1});
  EXPECT_EQ(OthersOf(ShardedGraph(kSoftmax, {6, 3}, axis, 0)),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(OthersOf(ShardedGraph(kSoftmax, {5, 3}, axis, 0)),
            (std::vector<bool>{true, true}));
  // The new shape has the extents of a shard, the same for both.
  Attributes shape;
  shape.Set("shape", std::vector<int64_t>{6, 1, 3});
  EXPECT_EQ(OthersOf(ShardedGraph(kReshape, {6, 3}, shape, 0)),
            (std::vector<bool>{true, false}));
  // The diagonal moves from rank to rank.
  EXPECT_EQ(OthersOf(ShardedGraph(kTrilu, {6, 3}, {}, 0)),
            (std::vector<bool>{true, true}));
}

TEST(ShardTest, AWrongShardingIsRefused) {
  Attributes shape;
  shape.Set("shape", std::vector<int64_t>{15});
  ShardedGraph f(kReshape, {5, 3}, shape, 0);
  // The rule splits 15 into 5 units of 3, so halves of 15 are no shards.
  EXPECT_FALSE(ShardOfNode(f.graph.view(f.node), 0).ok());
}

}  // namespace
}  // namespace partita
