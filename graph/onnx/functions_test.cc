// A model's own functions: what their calls compute, and the messages for those
// that cannot be translated.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/onnx/testing/onnx_text.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

constexpr char kHead[] = R"(
  <ir_version: 8, opset_import: ["" : 17, "own" : 1, "other" : 2]>
)";

// One, x.
std::vector<HostTensor> Inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({3}, {-1, 0, 2}));
  return inputs;
}

std::string ResultOf(const onnx::ModelProto& model) {
  return SketchedModel(model).Run(Inputs());
}

std::string ResultOf(const std::string& text) {
  return ResultOf(ModelOfText(absl::StrCat(kHead, text)));
}

TEST(Functions, ACallIsTheNodesOfTheFunction) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.twice(x) }
    <domain: "own", opset_import: ["" : 17]>
    twice (a) => (b) { b = Add(a, a) }
  )"),
            "f32[3] -2 0 4");
}

// Two calls of one function do not see each other's names, and the body does
// not see names of the model's graph.
TEST(Functions, NamesInsideAreTheCallsOwn) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) {
      t = own.f(x)
      y = own.f(t)
    }
    <domain: "own", opset_import: ["" : 17]>
    f (x) => (y) { t = Neg(x)  y = Sub(t, x) }
  )"),
            "f32[3] -4 0 8");
}

TEST(Functions, FunctionsCallOthersOfOtherDomains) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.outer(x) }
    <domain: "own", opset_import: ["" : 17, "other" : 2]>
    outer (a) => (b) { c = other.inner(a)  b = other.inner(c) }
    <domain: "other", opset_import: ["" : 17]>
    inner (a) => (b) { b = Add(a, a) }
  )"),
            "f32[3] -4 0 8");
}

TEST(Functions, OneNamedAsAnOpOfTheStandardWins) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = Relu(x) }
    <domain: "", opset_import: ["" : 17]>
    Relu (a) => (b) { b = Neg(a) }
  )"),
            "f32[3] 1 -0 -2");
}

TEST(Functions, SeveralOutputsAndThoseThatNobodyNames) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y, float[3] z) { y, z = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b, c, d) { b = Neg(a)  c = Abs(a)  d = Relu(a) }
  )"),
            "f32[3] 1 -0 -2; f32[3] 1 0 2");
}

TEST(Functions, AnInputLeftOutIsLeftOutInside) {
  const std::string text = R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a, lowest) => (b) { b = Clip(a, lowest) }
  )";
  EXPECT_EQ(ResultOf(text), "f32[3] -1 0 2");
  EXPECT_EQ(ResultOf(absl::StrReplaceAll(text, {{"own.f(x)", "own.f(x, zero)"},
                                                {"{ y",
                                                 "{ zero = Constant<value = "
                                                 "float {0}>()  y"}})),
            "f32[3] 0 0 2");
}

TEST(Functions, AttributesReferToThoseOfTheCall) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f <slope = 0.5> (x) }
    <domain: "own", opset_import: ["" : 17]>
    f <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
  )"),
            "f32[3] -0.5 0 2");
}

TEST(Functions, AnAttributeThatIsNotBoundIsNotThere) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
  )"),
            "f32[3] -0.01 0 2");
}

TEST(Functions, ACallHandsItsOwnAttributesOn) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.outer <s = 0.25> (x) }
    <domain: "own", opset_import: ["" : 17]>
    outer <s> (a) => (b) { b = own.f <slope : float = @s> (a) }
    <domain: "own", opset_import: ["" : 17]>
    f <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
  )"),
            "f32[3] -0.25 0 2");
}

// Debian's protobuf does not know newer fields.
TEST(Functions, DefaultsOfAttributes) {
  onnx::ModelProto model = ModelOfText(absl::StrCat(kHead, R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
  )"));
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.125);
  onnx::FunctionProto& function = *model.mutable_functions(0);
  *function.GetReflection()
       ->MutableUnknownFields(&function)
       ->AddLengthDelimited(11) = slope.SerializeAsString();
  EXPECT_EQ(ResultOf(model), "f32[3] -0.125 0 2");
}

TEST(Functions, OverloadsAreApart) {
  onnx::ModelProto model = ModelOfText(absl::StrCat(kHead, R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = Neg(a) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = Abs(a) }
  )"));
  onnx::FunctionProto& function = *model.mutable_functions(1);
  *function.GetReflection()
       ->MutableUnknownFields(&function)
       ->AddLengthDelimited(13) = "positive";
  EXPECT_EQ(ResultOf(model), "f32[3] 1 -0 -2");
  onnx::NodeProto& call = *model.mutable_graph()->mutable_node(0);
  *call.GetReflection()->MutableUnknownFields(&call)->AddLengthDelimited(8) =
      "positive";
  EXPECT_EQ(ResultOf(model), "f32[3] 1 0 2");
}

TEST(Functions, OneIsThereOnce) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = Relu(a) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = Neg(a) }
  )"),
            "function own.f: found a second definition; expected one");
}

// The body's opset decides: since 13 the axes of a ReduceSum are an input.
TEST(Functions, TheBodyHasItsOwnOpset) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[1] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 12]>
    f (a) => (b) { b = ReduceSum <axes = [0]> (a) }
  )"),
            "f32[1] 1");
}

// 16 bytes, the size of a reference to a tensor in a file.
TEST(Functions, TensorsInsideStayInTheFile) {
  onnx::ModelProto model = ModelOfText(absl::StrCat(kHead, R"(
    agraph (float[3] x) => (double[2] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { b = Constant <value = double[2] {0, 0}> () }
  )"));
  onnx::TensorProto& tensor = *model.mutable_functions(0)
                                   ->mutable_node(0)
                                   ->mutable_attribute(0)
                                   ->mutable_t();
  const double elements[] = {1.5, -2.5};
  tensor.clear_double_data();
  tensor.set_raw_data(elements, sizeof(elements));
  EXPECT_EQ(ResultOf(model), "f64[2] 1.5 -2.5");
}

TEST(Functions, OneThatCallsItselfIsRefused) {
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    f (a) => (b) { b = own.g(a) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]>
    g (a) => (b) { b = own.f(a) }
  )"),
            "f (giving y/b/b): found a call of own.f inside itself; expected "
            "functions without recursion");
}

// Each calls the previous one twice: 2^40 nodes from 40 lines.
TEST(Functions, OnesThatExpandWithoutEndAreRefused) {
  std::string text = R"(
    agraph (float[3] x) => (float[3] y) { y = own.f40(x) }
    <domain: "own", opset_import: ["" : 17]>
    f0 (a) => (b) { b = Neg(a) }
  )";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(
        &text, "<domain: \"own\", opset_import: [\"\" : 17, \"own\" : 1]> f", i,
        " (a) => (b) { c = own.f", i - 1, "(a) b = own.f", i - 1, "(c) }\n");
  }
  EXPECT_THAT(ResultOf(text),
              testing::HasSubstr("found functions that become more than 92000 "
                                 "nodes; expected at most 1000 for each of the "
                                 "file"));
}

TEST(Functions, DeepNestingIsRefused) {
  std::string text = R"(
    agraph (float[3] x) => (float[3] y) { y = own.f1000(x) }
    <domain: "own", opset_import: ["" : 17]>
    f0 (a) => (b) { b = Neg(a) }
  )";
  for (int i = 1; i <= 1000; ++i) {
    absl::StrAppend(
        &text, "<domain: \"own\", opset_import: [\"\" : 17, \"own\" : 1]> f", i,
        " (a) => (b) { b = own.f", i - 1, "(a) }\n");
  }
  EXPECT_THAT(ResultOf(text),
              testing::HasSubstr("found bodies nested deeper than 64; expected "
                                 "fewer levels"));
}

TEST(Functions, ErrorsInsideNameTheirLocation) {
  EXPECT_EQ(
      ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { c = Transpose <perm = [1]> (a)  b = Neg(c) }
  )"),
      "Transpose (giving y/c): y/c: transpose of %x: found perm = [1] for "
      "operand 0 %x: f32[3]; expected each of 0..0 once; list every "
      "dimension of the operand in its new order");
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { c = Foo(a)  d = own.g(c)  b = SequenceAt(d, c) }
  )"),
            "found 3 nodes whose op is not supported:\n"
            "  Foo (node c) in the function own.f\n"
            "  g of domain own (node d) in the function own.f\n"
            "  SequenceAt (node b) in the function own.f");
}

TEST(Functions, WhatDoesNotFitTheFunctionIsRefused) {
  const std::string text = R"(
    agraph (float[3] x) => (float[3] y) { CALL }
    <domain: "own", opset_import: ["" : 17]>
    f <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
  )";
  const auto fault = [&](const char* call) {
    return ResultOf(absl::StrReplaceAll(text, {{"CALL", call}}));
  };
  EXPECT_EQ(fault("y = own.f(x, x)"),
            "f (giving y): found 2 inputs and 1 outputs; expected at most 1 "
            "and 1, as the function own.f has");
  EXPECT_EQ(fault("y, z = own.f(x)"),
            "f (giving y): found 1 inputs and 2 outputs; expected at most 1 "
            "and 1, as the function own.f has");
  EXPECT_EQ(
      fault("y = own.f <slop = 0.5> (x)"),
      "f (giving y): found attribute slop; expected one of: slope, as the "
      "function own.f has");
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 17]>
    f (a) => (b) { c = Neg(a) }
  )"),
            "f (giving y): found a body that gives no b, its output 0; "
            "expected a node for each output");
  EXPECT_EQ(ResultOf(R"(
    agraph (float[3] x) => (float[3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["" : 99]>
    f (a) => (b) { b = Neg(a) }
  )"),
            "f (giving y): found a function of opset 99; expected 7..28; "
            "convert the model");
}

}  // namespace
}  // namespace partita
