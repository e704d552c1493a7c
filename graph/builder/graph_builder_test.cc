// Tests graphs that are built in C++, and errors of the builder.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/graph_builder.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/builder/ops.h"
#include "graph/op_view.h"
#include "graph/text/printer.h"

namespace partita {
namespace {

constexpr char kHere[] = "graph/builder/graph_builder_test.cc";

// The module's text without locations, which change with every edit above.
std::string TextOf(absl::StatusOr<Module> module) {
  if (!module.ok()) return std::string(module.status().message());
  for (const auto& function : module->functions()) {
    for (NodeId id : function->order()) function->node(id).location.clear();
  }
  return PrintModule(*module);
}

TEST(GraphBuilder, ReadsLikeTheMaths) {
  GraphBuilder b("layer");
  Tensor x = b.Input("x", DType::kF32, {2, 3});
  Tensor w = b.Input("w", DType::kF32, {3, 4});
  Tensor bias = b.Constant(HostTensor::Of<float>({4}, {1, 2, 3, 4}));
  Tensor y = Relu(MatMul(x, w) + bias).Named("y");
  b.Output("probabilities", Softmax(-y / 2));
  EXPECT_EQ(TextOf(b.Build()),
            R"(graph @layer(%x: f32[2, 3], %w: f32[3, 4]) -> f32[2, 4] {
  %0 = constant f32[4] [1, 2, 3, 4]
  %1 = matmul %x, %w : f32[2, 4]
  %2 = add %1, %0 : f32[2, 4]
  %y = relu %2 : f32[2, 4]
  %3 = neg %y : f32[2, 4]
  %4 = constant f32[] 2
  %5 = div %3, %4 : f32[2, 4]
  %6 = softmax %5 : f32[2, 4]
  return %6 as probabilities
}
)");
}

TEST(GraphBuilder, NodesHaveTheirLineAndScope) {
  GraphBuilder b("f");
  Tensor x = b.Input("x", DType::kF32, {2});
  Tensor y;
  unsigned line = 0;
  {
    const GraphBuilder::Scope encoder(b, "encoder");
    const GraphBuilder::Scope layer(b, "layer3");
    line = __LINE__ + 1;
    y = x + Relu(x);
  }
  b.Output("y", y + 1);
  absl::StatusOr<Module> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<OpView> ops = module->main().ops();
  ASSERT_EQ(ops.size(), 4u);
  const std::string location = std::string(kHere) + ":" + std::to_string(line);
  EXPECT_EQ(ops[0].node().location, location);
  EXPECT_EQ(ops[1].node().location, location);
  EXPECT_EQ(ops[1].node().scope, "encoder/layer3");
  EXPECT_EQ(ops[3].node().scope, "");
}

TEST(GraphBuilder, PoolsTakeTheirWindow) {
  GraphBuilder b("pools");
  Tensor x = b.Input("x", DType::kF32, {1, 2, 4, 4});
  b.Output("most", MaxPool(x, {.kernel = {2, 2}}));
  b.Output(
      "mean",
      AvgPool(x, {.kernel = {3, 3}, .strides = {2, 2}, .pads_before = {1, 1}}));
  EXPECT_EQ(
      TextOf(b.Build()),
      R"(graph @pools(%x: f32[1, 2, 4, 4]) -> (f32[1, 2, 3, 3], f32[1, 2, 2, 2]) {
  %0 = max_pool %x {kernel = [2, 2]} : f32[1, 2, 3, 3]
  %1 = avg_pool %x {kernel = [3, 3], pads_before = [1, 1], strides = [2, 2]} : f32[1, 2, 2, 2]
  return %0 as most, %1 as mean
}
)");
}

TEST(GraphBuilder, TheFirstErrorNamesItsLine) {
  GraphBuilder b("f");
  Tensor x = b.Input("x", DType::kF32, {2, 3});
  const unsigned line = __LINE__ + 1;
  Tensor p = Softmax(x, 5);
  EXPECT_FALSE(p.valid());
  b.Output("y", Relu(p) + MatMul(x, x) * 2);
  const std::string message(b.Build().status().message());
  EXPECT_EQ(message, std::string(kHere) + ":" + std::to_string(line) +
                         ": softmax of %x: found axis 5 on f32[2, 3]; expected "
                         "-2..1; use axis = -1 for the innermost dimension");
}

TEST(GraphBuilder, AttentionTakesQueriesKeysAndValuesInOne) {
  for (const Shape& dims : {Shape{2, 5, 3}, Shape{2, 5, 4, 2, 8}}) {
    GraphBuilder b("f");
    EXPECT_FALSE(Attention(b.Input("x", DType::kF32, dims)).valid());
    EXPECT_NE(b.Build().status().message().find(
                  "expected queries, keys and values as [n, positions, 3, "
                  "heads, size]; reshape or concatenate them"),
              absl::string_view::npos);
  }
}

TEST(GraphBuilder, FunctionsShareVariables) {
  GraphBuilder b("train");
  Tensor x = b.Input("x", DType::kF32, {2});
  Tensor w = b.Variable("w", HostTensor::Of<float>({2}, {1, 2}));
  b.Update("w", w - x);
  b.BeginFunction("evaluate");
  b.Output("w", b.ReadVariable("w"));
  EXPECT_EQ(TextOf(b.Build()),
            R"(variable @w: f32[2] trainable = f32[2] [1, 2]

graph @train(%x: f32[2]) -> () {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  %0 = sub %w, %x : f32[2]
  update @w = %0
  return
}

graph @evaluate() -> f32[2] {
  %w = variable {dtype = f32, name = "w", shape = [2]} : f32[2]
  return %w
}
)");
}

TEST(GraphBuilder, ContinuesAModule) {
  GraphBuilder first("f");
  first.Output("y", Relu(first.Input("x", DType::kF32, {2})).Named("r"));
  absl::StatusOr<Module> module = first.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  GraphBuilder b(*std::move(module), "f");
  b.Output("z", b.Find("y") + b.Find("x") * b.Find("r"));
  EXPECT_EQ(TextOf(b.Build()),
            R"(graph @f(%x: f32[2]) -> (f32[2], f32[2]) {
  %r = relu %x : f32[2]
  %0 = mul %x, %r : f32[2]
  %1 = add %r, %0 : f32[2]
  return %r as y, %1 as z
}
)");
}

TEST(GraphBuilder, UnknownNamesAreReported) {
  EXPECT_NE(
      GraphBuilder(Module(), "f")
          .Build()
          .status()
          .message()
          .find("found no function @f; expected one of the module; name it"),
      absl::string_view::npos);
  GraphBuilder b("f");
  b.Find("x");
  EXPECT_NE(b.Build().status().message().find(
                "found no value %x in @f; expected an input, an output or a "
                "named result; name one of them"),
            absl::string_view::npos);
}

TEST(GraphBuilder, ValuesOfAnotherFunctionAreRefused) {
  GraphBuilder b("f");
  Tensor x = b.Input("x", DType::kF32, {2});
  b.BeginFunction("g");
  b.Output("y", Relu(x));
  EXPECT_NE(b.Build().status().message().find(
                "found a value of @f; expected one of @g"),
            absl::string_view::npos);
}

TEST(GraphBuilder, ATensorThatWasNeverMadeIsRefused) {
  GraphBuilder b("f");
  b.Output("y", Tensor());
  EXPECT_NE(
      b.Build().status().message().find("found a tensor that was never built"),
      absl::string_view::npos);
}

TEST(GraphBuilder, AnUpdateOfAnotherTypeIsRefused) {
  GraphBuilder b("f");
  Tensor w = b.Variable("w", HostTensor::Of<float>({2}, {1, 2}));
  b.Update("w", Reshape(w, {2, 1}));
  EXPECT_NE(b.Build().status().message().find(
                "update of @w: found f32[2, 1]; expected f32[2]"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace partita
