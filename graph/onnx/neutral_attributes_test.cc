// Attributes without an effect: accepted values, and messages for others.
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/node_attributes.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

using Proto = onnx::TensorProto;
using SetAttribute = std::function<void(SketchedModel&)>;

SetAttribute Int(const std::string& name, int64_t value) {
  return [=](SketchedModel& model) { model.Attr(name, value); };
}
SetAttribute Word(const std::string& name, const std::string& value) {
  return [=](SketchedModel& model) { model.Attr(name, value); };
}
SetAttribute Float(const std::string& name, float value) {
  return [=](SketchedModel& model) { model.Attr(name, value); };
}

HostTensor Sequence(const Shape& dims) {
  HostTensor tensor(TensorType{DType::kF32, dims, {}});
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    SetNumber(tensor, i, Number(static_cast<double>(i * i % 7)));
  }
  return tensor;
}

// The op on x, with its other operands as constants. The last node of the model
// is the op's.
SketchedModel ModelOf(const std::string& op, int x_type = Proto::FLOAT) {
  const HostTensor two = HostTensor::Of<float>({2}, {1, 3});
  SketchedModel model(24);
  if (op == "BatchNormalization") {
    for (const char* name : {"s", "b", "m", "v"}) {
      model.Constant(name, Proto::FLOAT, two);
    }
    return model.Input("x", x_type, {1, 2, 2, 2})
        .Node(op, {"x", "s", "b", "m", "v"}, {"y"});
  }
  if (op == "GroupNormalization") {
    return model.Constant("s", Proto::FLOAT, two)
        .Input("x", x_type, {1, 2, 2, 2})
        .Node(op, {"x", "s", "s"}, {"y"})
        .Attr("num_groups", int64_t{1});
  }
  if (op == "LayerNormalization" || op == "RMSNormalization") {
    return model.Constant("s", Proto::FLOAT, two)
        .Input("x", x_type, {1, 2, 2, 2})
        .Node(op, {"x", "s"}, {"y"});
  }
  if (op == "Gemm") {
    return model.Constant("w", Proto::FLOAT, Sequence({2, 2}))
        .Input("x", x_type, {1, 2, 2, 2})
        .Ints("two", {4, 2})
        .Node("Reshape", {"x", "two"}, {"m"})
        .Node(op, {"m", "w"}, {"y"});
  }
  if (op == "TopK") {
    return model.Ints("k", {1})
        .Input("x", x_type, {1, 2, 2, 2})
        .Node(op, {"x", "k"}, {"y"});
  }
  if (op == "Range") {
    return model.Constant("a", Proto::FLOAT, HostTensor::Of<float>({}, {1}))
        .Constant("b", Proto::FLOAT, HostTensor::Of<float>({}, {3}))
        .Input("x", x_type, {1, 2, 2, 2})
        .Node(op, {"a", "b", "a"}, {"y"});
  }
  if (op == "Constant") {
    return model.Input("x", x_type, {1, 2, 2, 2}).Node(op, {}, {"y"});
  }
  model.Input("x", x_type, {1, 2, 2, 2});
  if (op == "CastLike") return model.Node(op, {"x", "x"}, {"y"});
  model.Node(op, {"x"}, {"y"});
  if (op == "Cast") model.Attr("to", int64_t{Proto::INT32});
  return model;
}

std::string Computed(const std::string& op, const SetAttribute& set) {
  SketchedModel model = ModelOf(op);
  if (set != nullptr) set(model);
  std::vector<HostTensor> inputs;
  inputs.push_back(Sequence({1, 2, 2, 2}));
  return model.Output("y").Run(inputs);
}

struct Case {
  std::string op;
  std::string name;
  std::vector<SetAttribute> neutral;
  // Compares the text between "found attribute " and "; expected ".
  SetAttribute other = nullptr;
  std::string found = "";
  std::string expected = "";
};

const char* const kInference = "a model exported for inference";
const char* const kDense = "a dense tensor of numbers";
const char* const kStashType =
    "1 (f32) or the type of the operand: statistics are kept in f32, those of "
    "f64 in f64";

std::vector<Case> Cases() {
  return {
      {"BatchNormalization",
       "is_test",
       {Int("is_test", 1)},
       Int("is_test", 0),
       "is_test = 0",
       kInference},
      {"BatchNormalization",
       "spatial",
       {Int("spatial", 1)},
       Int("spatial", 0),
       "spatial = 0",
       "1: a statistic per channel"},
      {"Cast",
       "round_mode",
       {Word("round_mode", "up"), Word("round_mode", "down")}},
      {"Cast", "saturate", {Int("saturate", 1), Int("saturate", 0)}},
      {"CastLike", "round_mode", {Word("round_mode", "nearest")}},
      {"CastLike", "saturate", {Int("saturate", 1), Int("saturate", 0)}},
      {"Constant",
       "sparse_value",
       {},
       Int("sparse_value", 0),
       "sparse_value = 0",
       kDense},
      {"Constant",
       "value_string",
       {},
       Word("value_string", "a"),
       "value_string",
       kDense},
      {"Constant",
       "value_strings",
       {},
       Word("value_strings", "a"),
       "value_strings",
       kDense},
      {"Dropout",
       "is_test",
       {Int("is_test", 1)},
       Int("is_test", 0),
       "is_test = 0",
       kInference},
      {"Dropout", "ratio", {Float("ratio", 0.9f)}},
      {"Gemm", "broadcast", {Int("broadcast", 1), Int("broadcast", 0)}},
      {"GroupNormalization",
       "stash_type",
       {Int("stash_type", 1)},
       Int("stash_type", 11),
       "stash_type = 11",
       kStashType},
      {"LayerNormalization",
       "stash_type",
       {Int("stash_type", 1)},
       Int("stash_type", 10),
       "stash_type = 10",
       kStashType},
      {"RMSNormalization",
       "stash_type",
       {Int("stash_type", 1)},
       Int("stash_type", 11),
       "stash_type = 11",
       kStashType},
      {"Range", "stash_type", {Int("stash_type", 1), Int("stash_type", 16)}},
      {"TopK", "sorted", {Int("sorted", 1), Int("sorted", 0)}},
  };
}

TEST(NeutralAttributes, TheirNodesComputeAsWithoutThem) {
  for (const Case& c : Cases()) {
    for (const SetAttribute& set : c.neutral) {
      EXPECT_EQ(Computed(c.op, set), Computed(c.op, nullptr))
          << c.op << " " << c.name;
      EXPECT_TRUE(absl::StrContains(Computed(c.op, set), "["))
          << c.op << " " << Computed(c.op, set);
    }
    if (c.other == nullptr) continue;
    EXPECT_EQ(Computed(c.op, c.other),
              absl::StrCat(c.op, " (node n): found attribute ", c.found,
                           "; expected ", c.expected));
  }
}

TEST(NeutralAttributes, EachHasACase) {
  std::set<std::string> table, cases;
  for (const NeutralAttribute& row : NeutralAttributes()) {
    table.insert(absl::StrCat(row.op_type, ".", row.name));
  }
  for (const Case& c : Cases()) cases.insert(absl::StrCat(c.op, ".", c.name));
  EXPECT_EQ(cases, table);
}

// The same value has another meaning for another type.
TEST(NeutralAttributes, AStashTypeIsF32OrTheOperandsOwn) {
  const auto with = [](int x_type, int64_t stash_type) {
    return SketchedModel(21)
        .Constant("s", Proto::FLOAT, HostTensor::Of<float>({2}, {1, 1}))
        .Input("x", x_type, {1, 2})
        .Node("LayerNormalization", {"x", "s"}, {"y"})
        .Attr("stash_type", stash_type)
        .Output("y")
        .Import()
        .status()
        .code();
  };
  EXPECT_EQ(with(Proto::DOUBLE, Proto::DOUBLE), absl::StatusCode::kOk);
  EXPECT_EQ(with(Proto::FLOAT, Proto::DOUBLE),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(with(Proto::FLOAT16, Proto::FLOAT16), absl::StatusCode::kOk);
  EXPECT_EQ(with(Proto::FLOAT16, Proto::FLOAT), absl::StatusCode::kOk);
  EXPECT_EQ(with(Proto::BFLOAT16, Proto::FLOAT16),
            absl::StatusCode::kUnimplemented);
}

TEST(NeutralAttributes, ANameThatTheOpDoesNotHaveIsRefused) {
  EXPECT_EQ(Computed("Cast", Int("saturated", 1)),
            "Cast (node n): found attribute saturated; expected attributes of "
            "the op: round_mode, saturate, to");
  EXPECT_EQ(Computed("TopK", Int("k", 1)),
            "TopK (node n): found attribute k in a node of opset 24; expected "
            "it where the op has a use for it");
  EXPECT_EQ(Computed("CastLike", Float("to", 1)),
            "CastLike (node n): found attribute to; expected attributes of the "
            "op: round_mode, saturate");
}

}  // namespace
}  // namespace partita
