// The contents of exported models, and refusals.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/export.h"

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/onnx/testing/reimport.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "onnx/onnx_pb.h"

namespace partita {
namespace {

Module Parsed(const std::string& text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "m.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

onnx::ModelProto ProtoOf(const ExportedModel& exported) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(BytesOf(exported.model)));
  return proto;
}

// "y = Conv(x, w) conv1/c" for each node.
std::string NodesText(const onnx::GraphProto& graph) {
  std::string text;
  for (const onnx::NodeProto& node : graph.node()) {
    absl::StrAppend(&text, absl::StrJoin(node.output(), ", "), " = ",
                    node.op_type(), "(", absl::StrJoin(node.input(), ", "),
                    ") ", node.name(), "\n");
  }
  return text;
}

std::string Nodes(const std::string& text) {
  const absl::StatusOr<ExportedModel> exported = ExportOnnx(Parsed(text), "f");
  if (!exported.ok()) return std::string(exported.status().message());
  return NodesText(ProtoOf(*exported).graph());
}

constexpr char kTwoLayers[] = R"(
variable @w: f32[2, 2] trainable = f32[2, 2] [1, 2, 3, 4]
graph @f(%x: f32[3, 2]) -> f32[3, 2] {
  %w = variable {name = "w", dtype = f32, shape = [2, 2]} : f32[2, 2]
  %c = constant f32[2] [5, 6] : f32[2]
  %0 = matmul %x, %w : f32[3, 2] scope "fc1" at "net.cc:7"
  %sum = add %0, %c : f32[3, 2] scope "fc1" at "fc1/add"
  %unread = exp %sum : f32[3, 2]
  %p = softmax %sum : f32[3, 2] at "top"
  return %p as y
}
)";

TEST(ExportTest, NamesScopesAndWhoWroteItAreKept) {
  const Module module = Parsed(kTwoLayers);
  const onnx::ModelProto proto = ProtoOf(*ExportOnnx(module, "f"));
  EXPECT_EQ(NodesText(proto.graph()),
            "v3 = MatMul(x, w) fc1/v3\n"
            "sum = Add(v3, c) fc1/add\n"
            "p = Softmax(sum) top\n"
            "y = Identity(p) y\n");
  EXPECT_EQ(proto.graph().node(0).doc_string(), "net.cc:7");
  EXPECT_EQ(proto.graph().node(1).doc_string(), "");
  EXPECT_EQ(proto.ir_version(), 8);
  EXPECT_EQ(proto.opset_import(0).version(), 17);
  EXPECT_EQ(proto.producer_name(), "partita");
  EXPECT_EQ(proto.doc_string(), "Function @f, as Partita exports it.");
  EXPECT_EQ(proto.graph().name(), "f");
  EXPECT_EQ(proto.graph().input(0).name(), "x");
  EXPECT_EQ(proto.graph().output(0).name(), "y");
}

TEST(ExportTest, ReadBackItIsTheSameGraph) {
  const Module module = Parsed(kTwoLayers);
  const absl::StatusOr<Module> again = Reimported(module, "f");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(PrintModule(*again),
            R"(graph @main(%x: f32[3, 2]) -> f32[3, 2] {
  %w = constant f32[2, 2] [1, 2, 3, 4]
  %c = constant f32[2] [5, 6]
  %v3 = matmul %x, %w : f32[3, 2] scope "fc1" at "fc1/v3"
  %sum = add %v3, %c : f32[3, 2] scope "fc1" at "fc1/add"
  %p = softmax %sum {axis = 1} : f32[3, 2] at "top"
  return %p as y
}
)");
}

TEST(ExportTest, TheCallerGivesTheValuesOfVariables) {
  const Module module = Parsed(kTwoLayers);
  const HostTensor trained = HostTensor::Of<float>({2, 2}, {7, 8, 9, 10});
  ExportOptions options;
  options.variables["w"] = &trained;
  const absl::StatusOr<Module> again = Reimported(module, "f", options);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(absl::StrContains(PrintModule(*again),
                                "%w = constant f32[2, 2] [7, 8, 9, 10]"));
  const HostTensor other = HostTensor::Of<float>({4}, {7, 8, 9, 10});
  options.variables["w"] = &other;
  EXPECT_EQ(ExportOnnx(module, "f", options).status().message(),
            "@f: found 1 node that cannot be exported:\n"
            "  variable %w: found a value of f32[4]; expected f32[2, 2], the "
            "variable's type");
}

TEST(ExportTest, TheSameModuleMakesTheSameBytes) {
  const Module module = Parsed(kTwoLayers);
  EXPECT_EQ(BytesOf(ExportOnnx(module, "f")->model),
            BytesOf(ExportOnnx(Parsed(kTwoLayers), "f")->model));
}

TEST(ExportTest, OutputsAreCalledAsCallersKnowThem) {
  // A result without a name gets its output's; one value may have two.
  EXPECT_EQ(Nodes(R"(
graph @f(%x: f32[2]) -> (f32[2], f32[2], f32[2], f32[2]) {
  %0 = relu %x : f32[2]
  %a = neg %0 : f32[2]
  %c = exp %a : f32[2]
  return %x, %0 as a, %0 as b, %c as copy
}
)"),
            "a = Relu(x) a\n"
            "a_1 = Neg(a) a_1\n"
            "c = Exp(a_1) c\n"
            "b = Identity(a) b\n"
            "copy = Identity(c) copy\n");
}

TEST(ExportTest, OpsOfLaterOpsetsAreWrittenOut) {
  EXPECT_EQ(Nodes(R"(
graph @f(%x: f32[2]) -> f32[2] {
  %s = silu %x : f32[2]
  %m = mish %s : f32[2]
  %y = gelu %m : f32[2]
  return %y
}
)"),
            "s.Sigmoid = Sigmoid(x) s.Sigmoid\n"
            "s = Mul(x, s.Sigmoid) s\n"
            "m.Softplus = Softplus(s) m.Softplus\n"
            "m.Tanh = Tanh(m.Softplus) m.Tanh\n"
            "m = Mul(s, m.Tanh) m\n"
            "y.Div = Div(m, y.sqrt2) y.Div\n"
            "y.Erf = Erf(y.Div) y.Erf\n"
            "y.Add = Add(y.Erf, y.one) y.Add\n"
            "y.Mul = Mul(m, y.Add) y.Mul\n"
            "y = Mul(y.Mul, y.half) y\n");
}

TEST(ExportTest, AllNodesThatCannotBeExpressedAreReportedAtOnce) {
  EXPECT_EQ(Nodes(R"(
graph @f(%x: f32[2], %b: bf16[2], %i: i32[2]) -> (f32[2], bf16[2], i32[2]) {
  %y = mod %x, %x : f32[2]
  %c = cos %b : bf16[2]
  %k = bitwise_and %i, %i : i32[2]
  return %y, %c, %k
}
)"),
            "@f: found 3 nodes that cannot be exported:\n"
            "  mod %y: found floats with the sign of the divisor; expected "
            "fmod = true, or integers\n"
            "  cos %c: found bf16 for input 0 of Cos; expected f16, f32 or "
            "f64\n"
            "  bitwise_and %k: found an op that is not in opset 17 of ONNX; "
            "expected one that is");
}

std::string Refusal(const std::string& body, const std::string& type = "f32[4]",
                    const std::string& result = "f32[4]") {
  const std::string message =
      Nodes(absl::StrCat("graph @f(%x: ", type, ") -> ", result,
                         " {\n  %y = ", body, "\n  return %y\n}\n"));
  const std::string head = "@f: found 1 node that cannot be exported:\n  ";
  return absl::StartsWith(message, head) ? message.substr(head.size())
                                         : message;
}

TEST(ExportTest, WhatAnOpCannotSayIsNamed) {
  EXPECT_EQ(Refusal("reduce_max %x {axes = []}"),
            "reduce_max %y: found no axes; expected those to reduce over");
  EXPECT_EQ(Refusal("avg_pool %x {kernel = [2], dilations = [2]}",
                    "f32[1, 1, 4]", "f32[1, 1, 2]"),
            "avg_pool %y: found dilations of an average; expected none");
  EXPECT_EQ(
      Refusal("max_pool %x {kernel = [2], ceil_extra = [3]}", "f32[1, 1, 4]",
              "f32[1, 1, 6]"),
      "max_pool %y: found ceil_extra of another length than ceil_mode has it; "
      "expected the length that lets the last window end");
  EXPECT_EQ(Refusal("resize %x {sizes = [4], coordinates = "
                    "\"tf_half_pixel_for_nn\"}"),
            "resize %y: found coordinates \"tf_half_pixel_for_nn\"; expected "
            "coordinates that opset 17 has");
  EXPECT_EQ(Refusal("resize %x {sizes = [4], scales = [1.75]}"),
            "resize %y: found sizes that do not follow from the scales; "
            "expected scales of f32 and the sizes that they give");
  EXPECT_EQ(
      Refusal("iota {dtype = i32, start = 2147483646, step = 1, count = 4}",
              "f32[4]", "i32[4]"),
      "iota %y: found 4 elements from 2147483646 by 1; expected a range that "
      "i32 can end");
  EXPECT_EQ(Refusal("iota {dtype = u8, count = 4}", "f32[4]", "u8[4]"),
            "iota %y: found u8 for input 0 of Range; expected f32, f64, i16, "
            "i32 or i64");
}

TEST(ExportTest, IndicesAndReductionsOfOtherKindsAreNamed) {
  const auto refusal = [](const std::string& attributes) {
    return Nodes(absl::StrCat(R"(
graph @f(%x: f32[4], %i: i64[4], %u: f32[4]) -> f32[4] {
  %y = scatter_elements %x, %i, %u {)",
                              attributes, R"(} : f32[4]
  return %y
}
)"));
  };
  EXPECT_EQ(refusal("reduction = \"max\""),
            "@f: found 1 node that cannot be exported:\n"
            "  scatter_elements %y: found reduction \"max\"; expected "
            "\"none\", \"add\" or \"mul\"");
  EXPECT_EQ(refusal("from_end = false"),
            "@f: found 1 node that cannot be exported:\n"
            "  scatter_elements %y: found from_end = false; expected true");
}

TEST(ExportTest, FunctionsThatAreNoModelAreRefused) {
  const Module module = Parsed(R"(
variable @w: f32[1] trainable = f32[1] [1]
graph @train(%x: f32[1]) -> f32[1] {
  %w = variable {name = "w", dtype = f32, shape = [1]} : f32[1]
  %y = add %w, %x : f32[1]
  update @w = %y
  return %y
}
graph @evaluate(%y: f32[1]) -> f32[1] {
  %0 = neg %y : f32[1]
  return %0 as y
}
)");
  EXPECT_EQ(ExportOnnx(module, "train").status().message(),
            "@train: found updates of variables; expected a function without, "
            "as models of ONNX keep no state; export one that only reads "
            "them, as @evaluate");
  EXPECT_EQ(ExportOnnx(module, "run").status().message(),
            "found no function @run; expected one of @train, @evaluate");
  EXPECT_EQ(ExportOnnx(module, "evaluate").status().message(),
            "output y: found an input of the same name; expected another, as "
            "ONNX knows both by their names; rename one");
}

TEST(ExportTest, AConstantWithOnlyAHashIsRefused) {
  EXPECT_EQ(Nodes(R"(
graph @f() -> f32[32] {
  %w = constant f32[32] #00112233445566778899aabbccddeeff : f32[32]
  %y = relu %w : f32[32]
  return %y
}
)"),
            "@f: found 1 node that cannot be exported:\n"
            "  constant %w: found only the hash of its bytes; expected the "
            "bytes; export from what the text was printed from");
}

Module WithWeights() {
  Module module;
  Graph& graph = module.AddFunction("f");
  std::vector<ValueId> outputs;
  std::vector<std::string> names;
  for (const int64_t size : {300, 200, 5000}) {
    std::vector<float> values(size);
    for (int64_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
    const LiteralId literal =
        module.literals().Add(HostTensor::Of<float>({size}, values));
    names.push_back(absl::StrCat("w", size));
    outputs.push_back(graph.AddConstant(literal, names.back()));
  }
  graph.SetOutputs(outputs, names);
  return module;
}

TEST(ExportTest, WeightsOfALargeModelAreInAFileBesideIt) {
  const Module module = WithWeights();
  ExportOptions options;
  options.weight_file = "m.onnx.data";
  EXPECT_TRUE(ExportOnnx(module, "f", options)->weights.empty());
  options.largest_model = 20000;
  const absl::StatusOr<ExportedModel> exported =
      ExportOnnx(module, "f", options);
  ASSERT_TRUE(exported.ok()) << exported.status();
  // 200 numbers are less than 1 KiB, and stay in the model; others begin at a
  // page.
  EXPECT_EQ(BytesOf(exported->weights).size(), 4096u + 20000u);
  EXPECT_LT(BytesOf(exported->model).size(), 1500u);
  const absl::StatusOr<Module> again = Reimported(module, "f", options);
  ASSERT_TRUE(again.ok()) << again.status();
  const auto values = Evaluate(again->main(), {});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<float>()[299], 299);
  EXPECT_EQ((*values)[1].data<float>()[199], 199);
  EXPECT_EQ((*values)[2].data<float>()[4999], 4999);
}

}  // namespace
}  // namespace partita
