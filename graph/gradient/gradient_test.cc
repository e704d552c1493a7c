// Tests the nodes and errors of the backward pass.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gradient/gradient.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/evaluate.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

Module Parsed(const std::string& text) {
  auto module = ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

ValueId Named(const Graph& graph, const std::string& name) {
  for (int i = 0; i < graph.value_id_bound(); ++i) {
    if (graph.value(ValueId(i)).name == name) return ValueId(i);
  }
  ADD_FAILURE() << "no value " << name;
  return {};
}

// The graph with the gradients of its first output as outputs, or the error.
std::string Differentiated(const std::string& text,
                           const std::vector<std::string>& wanted) {
  Module module = Parsed(text);
  Graph& graph = module.main();
  std::vector<ValueId> values;
  for (const std::string& name : wanted) values.push_back(Named(graph, name));
  const auto gradients =
      AddGradients(graph, {{graph.outputs()[0], ValueId()}}, values);
  if (!gradients.ok()) return std::string(gradients.status().message());
  graph.SetOutputs(*gradients);
  const absl::Status status = VerifyModule(module);
  if (!status.ok()) return std::string(status.message());
  for (NodeId id : graph.order()) graph.node(id).location.clear();
  return PrintModule(module);
}

TEST(Gradient, FollowsTheChainRule) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%x: f32[2, 3], %w: f32[3, 4]) -> f32[] {
  %y = matmul %x, %w : f32[2, 4]
  %l = reduce_sum %y {axes = [0, 1], keep_dims = false} : f32[]
  return %l
})",
                           {"w"}),
            R"(graph @f(%x: f32[2, 3], %w: f32[3, 4]) -> f32[3, 4] {
  %y = matmul %x, %w : f32[2, 4]
  %l = reduce_sum %y {axes = [0, 1], keep_dims = false} : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  %1 = reshape %0 {shape = [1, 1]} : f32[1, 1]
  %2 = expand %1 {shape = [2, 4]} : f32[2, 4]
  %3 = matmul %x, %2 {transpose_a = true} : f32[3, 4]
  return %3
}
)");
}

// A graph of `body`, which computes %l from %x.
std::string GradientByX(const std::string& body) {
  const std::string graph = Differentiated(
      "graph @f(%x: f32[2, 6]) -> f32[] {\n" + body + "  return %l\n}", {"x"});
  return graph.substr(graph.find("%l = "));
}

constexpr char kSlices[] =
    R"(  %b = slice %x {sizes = [2, 4], starts = [0, 2]} : f32[2, 4]
  %a = slice %x {sizes = [2, 2], starts = [0, 0]} : f32[2, 2]
  %c = slice %x {sizes = [2, 2], starts = [0, 4]} : f32[2, 2]
)";

TEST(Gradient, SlicesThatMakeUpTheWholeAreConcatenated) {
  const std::string gradient = GradientByX(absl::StrCat(kSlices, R"(
  %s = reduce_sum %b {axes = [0, 1], keep_dims = false} : f32[]
  %t = reduce_max %a {axes = [0, 1], keep_dims = false} : f32[]
  %l = mul %s, %t : f32[]
)"));
  EXPECT_THAT(gradient, testing::HasSubstr(" = concat "));
  EXPECT_THAT(gradient, testing::HasSubstr("{axis = 1} : f32[2, 6]\n  return"));
}

// %a and %c leave a gap; %b and %c overlap.
TEST(Gradient, OtherSlicesAreAdded) {
  for (const char* other : {"%a", "%b"}) {
    const std::string gradient =
        GradientByX(absl::StrCat(kSlices, "  %s = reduce_sum ", other,
                                 R"( {axes = [0, 1], keep_dims = false} : f32[]
  %t = reduce_max %c {axes = [0, 1], keep_dims = false} : f32[]
  %l = mul %s, %t : f32[]
)"));
    EXPECT_THAT(gradient, testing::Not(testing::HasSubstr("concat"))) << other;
    EXPECT_THAT(gradient, testing::HasSubstr(" = add ")) << other;
  }
}

TEST(Gradient, ReadersOfAValueAddUp) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%x: f32[]) -> f32[] {
  %y = exp %x : f32[]
  %l = mul %y, %x : f32[]
  return %l
})",
                           {"x"}),
            R"(graph @f(%x: f32[]) -> f32[] {
  %y = exp %x : f32[]
  %l = mul %y, %x : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  %1 = mul %0, %x : f32[]
  %2 = mul %0, %y : f32[]
  %3 = mul %1, %y : f32[]
  %4 = add %2, %3 : f32[]
  return %4
}
)");
}

// The branch through %b is not differentiated, and floor passes no gradient.
TEST(Gradient, OnlyPathsFromRequestedValuesAreBuilt) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%a: f32[], %b: f32[]) -> f32[] {
  %c = exp %b : f32[]
  %d = floor %a : f32[]
  %e = add %c, %d : f32[]
  %l = add %a, %e : f32[]
  return %l
})",
                           {"a"}),
            R"(graph @f(%a: f32[], %b: f32[]) -> f32[] {
  %c = exp %b : f32[]
  %d = floor %a : f32[]
  %e = add %c, %d : f32[]
  %l = add %a, %e : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  return %0
}
)");
}

// One of two equal factors is treated as a constant.
TEST(Gradient, NothingFlowsThroughAStoppedGradient) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%a: f32[]) -> f32[] {
  %b = stop_gradient %a : f32[]
  %l = mul %a, %b : f32[]
  return %l
})",
                           {"a"}),
            R"(graph @f(%a: f32[]) -> f32[] {
  %b = stop_gradient %a : f32[]
  %l = mul %a, %b : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  %1 = mul %0, %b : f32[]
  return %1
}
)");
}

TEST(Gradient, AValueTheLossDoesNotDependOnHasGradientZero) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%a: f32[], %b: f64[2]) -> f32[] {
  %l = neg %a : f32[]
  return %l
})",
                           {"b"}),
            R"(graph @f(%a: f32[], %b: f64[2]) -> f64[2] {
  %l = neg %a : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  %1 = fill {dtype = f64, shape = [2]} : f64[2]
  return %1
}
)");
}

TEST(Gradient, GradientsOfBroadcastOperandsAreSummed) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%x: f32[3, 2], %b: f32[2]) -> f32[] {
  %y = add %x, %b : f32[3, 2]
  %l = reduce_sum %y {axes = [0, 1], keep_dims = false} : f32[]
  return %l
})",
                           {"b"}),
            R"(graph @f(%x: f32[3, 2], %b: f32[2]) -> f32[2] {
  %y = add %x, %b : f32[3, 2]
  %l = reduce_sum %y {axes = [0, 1], keep_dims = false} : f32[]
  %0 = fill {dtype = f32, shape = [], value = 1} : f32[]
  %1 = reshape %0 {shape = [1, 1]} : f32[1, 1]
  %2 = expand %1 {shape = [3, 2]} : f32[3, 2]
  %3 = reduce_sum %2 {axes = [0]} : f32[1, 2]
  %4 = reshape %3 {shape = [2]} : f32[2]
  return %4
}
)");
}

TEST(Gradient, BackwardNodesHaveTheScopeAndDeviceOfTheOp) {
  Module module = Parsed(R"(
graph @f(%x: f32[]) -> f32[] {
  %y = exp %x : f32[] on gpu:0
  return %y
})");
  Graph& graph = module.main();
  Node& forward = graph.node(graph.order()[0]);
  forward.scope = "encoder/layer3";
  forward.location = "model.cc:7";
  const auto gradients =
      AddGradients(graph, {{graph.outputs()[0], ValueId()}}, graph.inputs());
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const Node& made = graph.node(graph.value((*gradients)[0]).defining_node);
  EXPECT_EQ(made.scope, "encoder/layer3");
  EXPECT_EQ(made.location, "model.cc:7");
  ASSERT_EQ(made.placement.devices.size(), 1u);
  EXPECT_EQ(made.placement.devices[0], "gpu:0");
}

std::vector<double> Numbers(const HostTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    numbers.push_back(GetAsDouble(tensor, i));
  }
  return numbers;
}

// d(x^3) = 3 x^2, and d of the sum of that is 6 x.
TEST(Gradient, GradientsHaveGradients) {
  Module module = Parsed(R"(
graph @f(%x: f64[2]) -> f64[2] {
  %s = mul %x, %x : f64[2]
  %c = mul %s, %x : f64[2]
  return %c
})");
  Graph& graph = module.main();
  const ValueId ones = graph.AddInput("ones", {DType::kF64, {2}, {}});
  const ValueId x = graph.inputs()[0];
  const auto first = AddGradients(graph, {{graph.outputs()[0], ones}}, {x});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = AddGradients(graph, {{(*first)[0], ones}}, {x});
  ASSERT_TRUE(second.ok()) << second.status();
  graph.SetOutputs({(*first)[0], (*second)[0]});
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<double>({2}, {2, -5}));
  inputs.push_back(HostTensor::Of<double>({2}, {1, 1}));
  const auto values = Evaluate(graph, inputs);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(Numbers((*values)[0]), (std::vector<double>{12, 75}));
  EXPECT_EQ(Numbers((*values)[1]), (std::vector<double>{12, -30}));
}

TEST(Gradient, SeveralLossesAddUp) {
  Module module = Parsed(R"(
graph @f(%x: f64[2], %dy: f64[2]) -> (f64[2], f64[]) {
  %y = mul %x, %x : f64[2]
  %l = reduce_sum %x {axes = [0], keep_dims = false} : f64[]
  return %y, %l
})");
  Graph& graph = module.main();
  const auto gradients = AddGradients(graph,
                                      {{graph.outputs()[0], graph.inputs()[1]},
                                       {graph.outputs()[1], ValueId()}},
                                      {graph.inputs()[0]});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  graph.SetOutputs(*gradients);
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<double>({2}, {2, 3}));
  inputs.push_back(HostTensor::Of<double>({2}, {10, 100}));
  const auto values = Evaluate(graph, inputs);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(Numbers((*values)[0]), (std::vector<double>{41, 601}));
}

constexpr char kTwoReads[] = R"(
variable @w: f32[] trainable = f32[] 3
graph @f(%x: f32[]) -> f32[] {
  %a = variable {dtype = f32, name = "w"} : f32[]
  %b = variable {dtype = f32, name = "w"} : f32[]
  %l = mul %a, %b : f32[]
  return %l
})";

TEST(Gradient, AVariableSumsOverTheNodesThatReadIt) {
  Module module = Parsed(kTwoReads);
  Graph& graph = module.main();
  const auto gradients = AddVariableGradients(graph, graph.outputs()[0], {"w"});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  graph.SetOutputs(*gradients);
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({}, {0}));
  const HostTensor w = HostTensor::Of<float>({}, {3});
  const auto values = Evaluate(graph, inputs, {{"w", &w}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(Numbers((*values)[0]), std::vector<double>{6});
}

TEST(GradientErrors, AVariableThatIsNotRead) {
  Module module = Parsed(kTwoReads);
  Graph& graph = module.main();
  EXPECT_EQ(
      AddVariableGradients(graph, graph.outputs()[0], {"v"}).status().message(),
      "@f: found no read of variable @v; expected one to differentiate "
      "by; leave the variable out");
}

TEST(GradientErrors, AnOpWithoutAGradientIsNamed) {
  const std::string message = Differentiated(R"(
graph @f(%x: f32[1, 1, 2], %dy: f32[1, 1, 1]) -> f32[] {
  %dx = max_pool_gradient %x, %dy {kernel = [2]} : f32[1, 1, 2]
  %l = reduce_sum %dx {axes = [0, 1, 2], keep_dims = false} : f32[]
  return %l
})",
                                             {"dy"});
  EXPECT_EQ(message,
            "max_pool_gradient %dx: found no gradient of "
            "max_pool_gradient on the path from the loss to the requested "
            "values; expected ops with a gradient "
            "(docs/internals/gradients.md); replace it, or do not request "
            "values before it");
}

TEST(GradientErrors, ALossOfSeveralElements) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%x: f32[2]) -> f32[2] {
  %y = neg %x : f32[2]
  return %y
})",
                           {"x"}),
            "@f: %y: found f32[2]; expected a loss of one element, or a "
            "gradient of it; reduce it to its sum or mean");
}

TEST(GradientErrors, AValueThatIsNoFloat) {
  EXPECT_EQ(Differentiated(R"(
graph @f(%x: f32[2], %i: i64[]) -> f32[] {
  %y = gather %x, %i : f32[]
  return %y
})",
                           {"i"}),
            "@f: %i: found i64[]; expected a float: only floats have "
            "gradients; leave it out or cast it");
}

TEST(GradientErrors, AGradientUnlikeItsLoss) {
  Module module = Parsed(R"(
graph @f(%x: f32[2], %dy: f32[3]) -> f32[2] {
  %y = neg %x : f32[2]
  return %y
})");
  Graph& graph = module.main();
  EXPECT_EQ(AddGradients(graph, {{graph.outputs()[0], graph.inputs()[1]}},
                         {graph.inputs()[0]})
                .status()
                .message(),
            "@f: %dy: found f32[3] as the gradient of a loss; expected f32[2] "
            "like the loss; reshape or cast it");
}

}  // namespace
}  // namespace partita
