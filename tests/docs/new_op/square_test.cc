// The skeleton of an op does what the page says.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gradient/gradient.h"
#include "graph/graph.h"
#include "graph/ops/op_sample.h"
#include "graph/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace partita {

extern const OpDef kSquare;

namespace {

TEST(Square, ItsValuesAreSquares) {
  EXPECT_EQ(Show(kSquare, List(F({3}, {0, -1.5f, 3}))), "f32[3] 0 2.25 9");
}

TEST(Square, OtherTypesAreRefused) {
  EXPECT_NE(InferMessage(kSquare, {{DType::kI32, {3}, {}}}).find("expected"),
            std::string::npos);
}

TEST(Square, ItHasAGradientAndSamplesThatItAccepts) {
  for (const OpSample& sample : kSquare.samples()) {
    LiteralPool literals;
    Graph graph("g", &literals);
    const TensorType type = {
        sample.operands[0].dtype, sample.operands[0].dims, {}};
    NodeSpec spec;
    spec.op = &kSquare;
    spec.operands = {graph.AddInput("x", type)};
    const auto node = graph.AddNode(std::move(spec));
    ASSERT_TRUE(node.ok()) << node.status();
    const OpView square = graph.view(*node);
    const ValueId dy = graph.AddInput("dy", type);
    const auto gradients = AddGradients(graph, {{square.result(0).id(), dy}},
                                        {square.operand(0).id()});
    EXPECT_TRUE(gradients.ok()) << gradients.status();
  }
}

}  // namespace
}  // namespace partita
