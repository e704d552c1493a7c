// Graphs keep uses, order and types right while they change.
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

const TensorType kRow{DType::kF32, {2}, {}};

class GraphTest : public ::testing::Test {
 protected:
  ValueId Copy(ValueId x, NodeId before = {}) {
    return *graph_.AddValue({.op = &kCopy, .operands = {x}}, before);
  }

  // A fused node whose body returns a copy of x `results` times.
  NodeSpec FusedCopy(ValueId x, int results) {
    auto body = std::make_unique<Graph>("body", &literals_);
    const ValueId inner = body->AddInput("x", kRow);
    const ValueId copy = *body->AddValue({.op = &kCopy, .operands = {inner}});
    body->SetOutputs(std::vector<ValueId>(results, copy));
    NodeSpec spec{.op = &kFused, .operands = {x}};
    spec.regions.push_back(std::move(body));
    return spec;
  }

  LiteralPool literals_;
  Graph graph_{"f", &literals_};
};

TEST_F(GraphTest, AddNodeInfersAndRecordsUses) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId y = Copy(x);
  EXPECT_EQ(graph_.type(y), kRow);
  ASSERT_EQ(graph_.value(x).uses.size(), 1u);
  EXPECT_EQ(graph_.value(x).uses[0].node, graph_.value(y).defining_node);
}

TEST_F(GraphTest, ARefusedNodeChangesNothing) {
  const ValueId x = graph_.AddInput("x", kRow);
  const absl::StatusOr<NodeId> node = graph_.AddNode(
      {.op = &kReorder, .operands = {x}, .attributes = {{"layout", "zz"}}});
  EXPECT_FALSE(node.ok());
  EXPECT_EQ(graph_.num_nodes(), 0);
  EXPECT_EQ(graph_.node_id_bound(), 0);
  EXPECT_TRUE(graph_.value(x).uses.empty());
}

TEST_F(GraphTest, SignatureFaultsAreNamed) {
  const ValueId x = graph_.AddInput("x", kRow);
  EXPECT_EQ(
      graph_.AddNode({.op = &kCopy, .operands = {x, x}}).status().message(),
      "copy of %x: found 2 operands; expected 1; see the op's page for "
      "its operands");
  EXPECT_EQ(graph_
                .AddNode({.op = &kReorder,
                          .operands = {x},
                          .attributes = {{"layuot", "ab"}}})
                .status()
                .message(),
            "reorder of %x: found attribute layuot; expected one of: layout; "
            "remove it or correct its name");
  EXPECT_EQ(graph_
                .AddNode({.op = &kReorder,
                          .operands = {x},
                          .attributes = {{"layout", int64_t{3}}}})
                .status()
                .message(),
            "reorder of %x: found attribute layout as an integer; expected a "
            "string; write a value of that kind");
}

TEST_F(GraphTest, InsertedNodesPrecedeTheirReader) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId last = Copy(x);
  const ValueId first = Copy(x, graph_.value(last).defining_node);
  graph_.SetOperand(graph_.value(last).defining_node, 0, first);
  const std::vector<NodeId> order = graph_.order();
  ASSERT_EQ(order.size(), 2u);
  EXPECT_EQ(order[0], graph_.value(first).defining_node);
  EXPECT_EQ(graph_.value(x).uses.size(), 1u);
}

TEST_F(GraphTest, ReplacedValuesHaveNoReaders) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId a = Copy(x);
  const ValueId b = Copy(a);
  graph_.SetOutputs({a, b});
  graph_.ReplaceAllUses(a, x);
  EXPECT_TRUE(graph_.value(a).uses.empty());
  EXPECT_EQ(graph_.outputs()[0], x);
  graph_.Erase(graph_.value(a).defining_node);
  EXPECT_EQ(graph_.num_nodes(), 1);
  EXPECT_EQ(graph_.value(x).uses.size(), 1u);
}

TEST_F(GraphTest, EveryChangeOfOutputsAndUpdatesIsSeen) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId a = Copy(x);
  const ValueId b = Copy(a);
  const auto outputs = [&] {
    std::string names;
    for (const auto& [name, value] :
         {std::pair("x", x), std::pair("a", a), std::pair("b", b)}) {
      if (graph_.is_output(value)) names += name;
    }
    return names;
  };
  EXPECT_EQ(outputs(), "");
  graph_.SetOutputs({a, a});
  EXPECT_EQ(outputs(), "a");
  graph_.SetOutput(0, b);
  EXPECT_EQ(outputs(), "ab");
  graph_.SetOutput(1, b);
  EXPECT_EQ(outputs(), "b");
  graph_.AddUpdate({"v", b});
  graph_.SetOutputs({x});
  EXPECT_EQ(outputs(), "xb");
  graph_.SetUpdate(0, a);
  EXPECT_EQ(outputs(), "xa");
  graph_.AddUpdate({"w", a});
  graph_.ReplaceAllUses(a, x);
  EXPECT_EQ(outputs(), "x");
  EXPECT_EQ(graph_.updates()[1].value, x);
  graph_.SetOutputs({});
  EXPECT_EQ(outputs(), "x");
  graph_.SetUpdates({{"v", b}});
  EXPECT_EQ(outputs(), "b");
  graph_.SetUpdates({});
  EXPECT_EQ(outputs(), "");
}

TEST_F(GraphTest, AnOnlyReaderReadsOnce) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId a = Copy(x);
  const ValueId b = Copy(a);
  EXPECT_EQ(ValueView(&graph_, a).only_reader()->id(),
            graph_.value(b).defining_node);
  EXPECT_FALSE(ValueView(&graph_, b).only_reader().has_value());
  graph_.SetOutputs({a, b});
  EXPECT_FALSE(ValueView(&graph_, a).only_reader().has_value());
  EXPECT_FALSE(ValueView(&graph_, b).only_reader().has_value());
}

TEST_F(GraphTest, InferenceFollowsChangedAttributes) {
  const ValueId c = graph_.AddConstant(
      literals_.Add(HostTensor::Of<float>({2}, {3, 4})), "c");
  const NodeId node = graph_.value(c).defining_node;
  graph_.node(node).attributes.Set(
      "value", literals_.Add(HostTensor::Of<int32_t>({3}, {5, 6, 7})));
  ASSERT_TRUE(graph_.InferAgain(node).ok());
  EXPECT_EQ(graph_.type(c).ToString(), "i32[3]");
}

TEST_F(GraphTest, InferenceKeepsTheNumberOfResults) {
  const ValueId x = graph_.AddInput("x", kRow);
  const ValueId fused = *graph_.AddValue(FusedCopy(x, 1));
  const NodeId node = graph_.value(fused).defining_node;
  graph_.node(node).regions = std::move(FusedCopy(x, 2).regions);
  EXPECT_EQ(graph_.InferAgain(node).message(),
            "fused %1: found 2 results; expected the 1 that it has; make "
            "another node");
  EXPECT_EQ(graph_.type(fused), kRow);
}

TEST_F(GraphTest, DefaultsAreNotStored) {
  const ValueId x = graph_.AddInput("x", kRow);
  const NodeId node = *graph_.AddNode(
      {.op = &kReorder, .operands = {x}, .attributes = {{"layout", ""}}});
  EXPECT_TRUE(graph_.node(node).attributes.entries().empty());
  EXPECT_EQ(graph_.view(node).attr_string("layout"), "");
}

TEST_F(GraphTest, AFusedNodeEvaluatesItsBody) {
  const ValueId x = graph_.AddInput("x", kRow);
  graph_.SetOutputs({*graph_.AddValue(FusedCopy(x, 1))});

  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({2}, {1.5f, -2}));
  const absl::StatusOr<std::vector<HostTensor>> outputs =
      Evaluate(*graph_.Clone(&literals_), inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].data<float>()[1], -2);
}

TEST_F(GraphTest, EvaluateRefusesInputsOfAnotherType) {
  graph_.SetOutputs({graph_.AddInput("x", kRow)});
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({3}, {1, 2, 3}));
  EXPECT_EQ(Evaluate(graph_, inputs).status().message(),
            "@f: input %x: found f32[3]; expected f32[2]");
  EXPECT_EQ(Evaluate(graph_, {}).status().message(),
            "@f: found 0 inputs; expected 1");
}

TEST_F(GraphTest, ConstantsAndVariablesGiveTheirBytes) {
  const LiteralId literal = literals_.Add(HostTensor::Of<float>({2}, {3, 4}));
  const ValueId constant = graph_.AddConstant(literal, "c");
  const ValueId variable =
      *graph_.AddValue({.op = &kVariable,
                        .attributes = {{"name", "w"},
                                       {"dtype", DType::kF32},
                                       {"shape", std::vector<int64_t>{2}}}});
  graph_.SetOutputs({constant, variable});
  graph_.AddUpdate({"w", constant});
  const HostTensor w = HostTensor::Of<float>({2}, {5, 6});
  const auto outputs = Evaluate(graph_, {}, {{"w", &w}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ((*outputs)[0].data<float>()[0], 3);
  EXPECT_EQ((*outputs)[1].data<float>()[1], 6);
  EXPECT_EQ((*outputs)[2].data<float>()[1], 4);  // the new value of @w
  EXPECT_FALSE(Evaluate(graph_, {}).ok());
}

TEST(ModuleTest, VariablesAreFoundByTheirNames) {
  Module module;
  for (int i = 0; i < 100; ++i) {
    module.AddVariable({.name = absl::StrCat("w", i), .trainable = i == 42});
  }
  module.AddVariable({.name = "w42"});
  const Module copy = module.Clone();
  for (const Module* each : {static_cast<const Module*>(&module), &copy}) {
    EXPECT_EQ(each->FindVariable("w7"), &each->variables()[7]);
    EXPECT_TRUE(each->FindVariable("w42")->trainable) << "the first one";
    EXPECT_EQ(each->FindVariable("w100"), nullptr);
    EXPECT_EQ(each->FindVariable(""), nullptr);
  }
}

}  // namespace
}  // namespace partita
