// Imported models that read one initializer in several ways, or initializers
// without elements, trained for 20 steps by eval and by plans, compared with
// PyTorch (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/inference_training.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;
constexpr int kDouble = onnx::TensorProto::DOUBLE;
constexpr int kInt64 = onnx::TensorProto::INT64;
constexpr int kSteps = 20;
using Ints = std::vector<int64_t>;

Module Training(const SketchedModel& model) {
  ImportOptions options;
  options.function = "train";
  options.weights_as_variables = true;
  auto imported = model.Import(options);
  EXPECT_TRUE(imported.ok()) << imported.status();
  auto module = TrainingOf(*std::move(imported), "cross-entropy",
                           {.schedule = {.learning_rate = 0.1}});
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

void ExpectRecorded(const std::string& name, const Numbers& found) {
  static const auto& lists =
      *new std::map<std::string, Numbers>(ReadLists("torch_shared.txt"));
  ASSERT_EQ(lists.count(name), 1u) << name;
  const Numbers& expected = lists.at(name);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::fabs(expected[i])))
        << "number " << i;
  }
}

void Append(const Numbers& more, Numbers& numbers) {
  numbers.insert(numbers.end(), more.begin(), more.end());
}

Numbers ByEval(const Module& module, const std::vector<HostTensor>& inputs) {
  State state(module);
  Numbers numbers;
  for (int step = 0; step < kSteps; ++step) {
    Append(ToNumbers(state.Step(*module.FindFunction("train"), inputs)),
           numbers);
  }
  Append(ToNumbers(state["w"]), numbers);
  return numbers;
}

// Each step with the bits of the plan's reference.
Numbers ByPlan(Module module, const std::vector<HostTensor>& inputs) {
  const auto session = TrainingSession(
      std::move(module), EqualCpus(1, kTrainingMemory), CompileOptions());
  Numbers numbers;
  if (session == nullptr) return numbers;
  for (int step = 0; step < kSteps; ++step) {
    Append(CheckedStep(*session, step, inputs), numbers);
  }
  Append(VariablesOf(*session)["w"], numbers);
  return numbers;
}

// "w" is the trained variable, and that of PyTorch's figures.
void ExpectTrainsAsPyTorch(const std::string& name, const SketchedModel& model,
                           const std::vector<HostTensor>& inputs) {
  SCOPED_TRACE(name);
  const Module module = Training(model);
  ExpectRecorded(name, ByEval(module, inputs));
  ExpectRecorded(name, ByPlan(Training(model), inputs));
}

std::vector<HostTensor> Batch() {
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnWeights({5, 3}, 1));
  inputs.push_back(DrawnIndices({5}, 3));
  return inputs;
}

SketchedModel Reading(const Ints& w) {
  SketchedModel model(17);
  model.Input("x", kFloat, {5, 3})
      .Constant("w", kFloat, DrawnWeights(Shape(w.begin(), w.end()), 0));
  return model;
}

// relu(x a) b, for weights a and b computed from w by the model's nodes.
SketchedModel TwoLayers(SketchedModel model, const std::string& a,
                        const std::string& b) {
  return model.Node("MatMul", {"x", a}, {"h"})
      .Node("Relu", {"h"}, {"r"})
      .Node("MatMul", {"r", b}, {"y"})
      .Output("y", kFloat, {5, 3});
}

TEST(SharedInitializers, AreOneVariableThroughIdentities) {
  SketchedModel two = Reading({3, 3});
  two.Node("Identity", {"w"}, {"a"}).Node("Identity", {"w"}, {"b"});
  ExpectTrainsAsPyTorch("identities", TwoLayers(two, "a", "b"), Batch());
  SketchedModel in_sequence = Reading({3, 3});
  in_sequence.Node("Identity", {"w"}, {"a"}).Node("Identity", {"a"}, {"b"});
  ExpectTrainsAsPyTorch("identities", TwoLayers(in_sequence, "w", "b"),
                        Batch());
}

TEST(SharedInitializers, AreOneVariableThroughReshapes) {
  SketchedModel model = Reading({9});
  model.Ints("square", {3, 3})
      .Ints("line", {9})
      .Node("Reshape", {"w", "square"}, {"a"})
      .Node("Reshape", {"w", "line"}, {"l"})
      .Node("Reshape", {"l", "square"}, {"b"});
  ExpectTrainsAsPyTorch("reshapes", TwoLayers(model, "a", "b"), Batch());
}

TEST(SharedInitializers, AreOneVariableThroughTransposes) {
  SketchedModel model = Reading({3, 3});
  model.Node("Transpose", {"w"}, {"t"});
  ExpectTrainsAsPyTorch("transposes", TwoLayers(model, "w", "t"), Batch());
}

TEST(SharedInitializers, AreOneVariableThroughCasts) {
  SketchedModel model = Reading({3, 3});
  model.Node("Cast", {"w"}, {"d"})
      .Attr("to", int64_t{kDouble})
      .Node("Cast", {"d"}, {"a"})
      .Attr("to", int64_t{kFloat})
      .Node("Cast", {"w"}, {"b"})
      .Attr("to", int64_t{kFloat});
  ExpectTrainsAsPyTorch("identities", TwoLayers(model, "a", "b"), Batch());
}

TEST(SharedInitializers, AreOneVariableThroughChains) {
  SketchedModel model = Reading({2, 6});
  model.Ints("wide", {3, 4})
      .Ints("tall", {4, 3})
      .Node("Cast", {"w"}, {"d"})
      .Attr("to", int64_t{kDouble})
      .Node("Transpose", {"d"}, {"t"})
      .Node("Reshape", {"t", "tall"}, {"u"})
      .Node("Cast", {"u"}, {"b"})
      .Attr("to", int64_t{kFloat})
      .Node("Identity", {"w"}, {"i"})
      .Node("Reshape", {"i", "wide"}, {"a"});
  ExpectTrainsAsPyTorch("chains", TwoLayers(model, "a", "b"), Batch());
}

// An embedding's table is also the last layer's weight.
TEST(SharedInitializers, AreOneVariableOfTiedEmbeddings) {
  SketchedModel model(17);
  model.Input("ids", kInt64, {5, 2})
      .Constant("w", kFloat, DrawnWeights({7, 3}, 0))
      .Node("Gather", {"w", "ids"}, {"rows"})
      .Node("ReduceMean", {"rows"}, {"h"})
      .Attr("axes", Ints{1})
      .Attr("keepdims", int64_t{0})
      .Node("Transpose", {"w"}, {"t"})
      .Node("MatMul", {"h", "t"}, {"y"})
      .Output("y", kFloat, {5, 7});
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnIndices({5, 2}, 7));
  inputs.push_back(DrawnIndices({5}, 7));
  ExpectTrainsAsPyTorch("tied embeddings", model, inputs);
}

// Low-rank adapters of rank 0: two weights without elements have no effect, and
// do not affect other weights.
TEST(EmptyInitializers, OfAdaptersOfRank0LeaveOthersAlone) {
  SketchedModel model = Reading({3, 3});
  model.Constant("a", kFloat, DrawnWeights({3, 0}, 2))
      .Constant("b", kFloat, DrawnWeights({0, 3}, 3))
      .Constant("bias", kFloat, DrawnWeights({3}, 4))
      .Node("MatMul", {"x", "w"}, {"h"})
      .Node("MatMul", {"x", "a"}, {"xa"})
      .Node("MatMul", {"xa", "b"}, {"xab"})
      .Node("Add", {"h", "xab"}, {"s"})
      .Node("Add", {"s", "bias"}, {"y"})
      .Output("y", kFloat, {5, 3});
  ExpectTrainsAsPyTorch("rank 0", model, Batch());
}

}  // namespace
}  // namespace partita
