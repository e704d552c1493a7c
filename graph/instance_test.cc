// What members of a device set hold and compute.
// SPDX-License-Identifier: Apache-2.0

#include "graph/instance.h"

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

TEST(InstanceTest, UnevenPartsMakeUpTheWholeInAnyLayout) {
  for (const char* letters : {"", "ba", "ab4b"}) {
    const Layout layout = *letters == 0 ? Layout() : *ParseLayout(letters, 2);
    const HostTensor whole = Counting({5, 7}, layout);
    for (int dim : {0, 1}) {
      const Sharding split = {Sharding::Kind::kSplit, dim};
      std::vector<HostTensor> parts;
      std::vector<const HostTensor*> pointers;
      for (int m = 0; m < 3; ++m) {
        parts.push_back(CutInstance(whole, split, m, 3));
      }
      for (const HostTensor& part : parts) pointers.push_back(&part);
      const HostTensor joined = JoinInstances(whole.type(), split, pointers);
      EXPECT_EQ(joined.byte_span(), whole.byte_span()) << letters << dim;
    }
  }
}

TEST(InstanceTest, AMemberGetsItsRows) {
  const HostTensor part =
      CutInstance(Counting({5, 2}), {Sharding::Kind::kSplit, 0}, 1, 2);
  EXPECT_EQ(part.type().ToString(), "f32[3, 2]");
  EXPECT_EQ(part.data<float>()[0], 5);
}

// A node of two members, one operand and one result cut along `dim`.
struct CutGraph {
  CutGraph(const OpDef& op, Shape dims, Attributes attributes, int dim)
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

TEST(InstanceTest, MembersResultsMakeUpTheNodesResult) {
  Attributes axis;
  axis.Set("axis", int64_t{1});
  CutGraph f(kSoftmax, {5, 3}, axis, 0);
  const OpView node = f.graph.view(f.node);
  ASSERT_TRUE(IsCut(node));
  const HostTensor x = Counting({5, 3});
  const Sharding rows = {Sharding::Kind::kSplit, 0};
  std::vector<HostTensor> parts;
  for (int m = 0; m < 2; ++m) {
    auto piece = CutNode(node, m);
    ASSERT_TRUE(piece.ok()) << piece.status();
    const std::vector<OpView> ops = (*piece)->ops();
    ASSERT_EQ(ops.size(), 1u);
    std::vector<HostTensor> operands;
    operands.push_back(CutInstance(x, rows, m, 2));
    auto results = EvaluateNode(ops[0], operands);
    ASSERT_TRUE(results.ok()) << results.status();
    parts.push_back(std::move((*results)[0]));
  }
  std::vector<HostTensor> operands;
  operands.push_back(x.Clone());
  auto whole = EvaluateNode(node, operands);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(JoinInstances((*whole)[0].type(), rows, {&parts[0], &parts[1]})
                .byte_span(),
            (*whole)[0].byte_span());
}

// softmax(relu(x)) over rows of 3: each member has its rows of the body.
TEST(InstanceTest, APieceOfAFusedNodeHasAPieceOfItsBody) {
  CutGraph f(kRelu, {5, 3}, {}, 0);
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
  std::vector<HostTensor> parts;
  for (int m = 0; m < 2; ++m) {
    const auto piece = CutNode(node, m);
    ASSERT_TRUE(piece.ok()) << piece.status();
    std::vector<HostTensor> operands;
    operands.push_back(CutInstance(whole, rows, m, 2));
    auto results = EvaluateNode((*piece)->ops().front(), operands);
    ASSERT_TRUE(results.ok()) << results.status();
    parts.push_back(std::move((*results)[0]));
  }
  std::vector<HostTensor> operands;
  operands.push_back(whole.Clone());
  const auto expected = EvaluateNode(node, operands);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(
      JoinInstances(whole.type(), rows, {&parts[0], &parts[1]}).byte_span(),
      (*expected)[0].byte_span());
}

TEST(InstanceTest, AWrongShardingIsRefused) {
  Attributes shape;
  shape.Set("shape", std::vector<int64_t>{15});
  CutGraph f(kReshape, {5, 3}, shape, 0);
  // The rule cuts 15 as 5 parts of 3, so that halves of 15 are no pieces.
  EXPECT_FALSE(CutNode(f.graph.view(f.node), 0).ok());
}

}  // namespace
}  // namespace partita
