// An ONNX model trains like the same network of the builder.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/dropout.h"
#include "graph/builder/inference_training.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;
constexpr int kInt64 = onnx::TensorProto::INT64;

HostTensor Filled(Shape dims, float value) {
  HostTensor tensor({DType::kF32, std::move(dims), {}});
  for (float& element : tensor.data<float>()) element = value;
  return tensor;
}

// As exported by PyTorch from nn.Sequential(Conv2d(1, 3, 2), BatchNorm2d(3),
// ReLU(), Flatten(), Linear(12, 4)) in evaluation mode, without folding.
SketchedModel Exported(bool with_softmax = false) {
  SketchedModel model(17);
  model.Input("x", kFloat, {5, 1, 3, 3})
      .Constant("0.weight", kFloat, DrawnWeights({3, 1, 2, 2}, 0))
      .Constant("0.bias", kFloat, DrawnWeights({3}, 1))
      .Constant("1.weight", kFloat, DrawnWeights({3}, 2))
      .Constant("1.bias", kFloat, DrawnWeights({3}, 3))
      .Constant("1.running_mean", kFloat, Filled({3}, 0))
      .Constant("1.running_var", kFloat, Filled({3}, 1))
      .Constant("4.weight", kFloat, DrawnWeights({4, 12}, 4))
      .Constant("4.bias", kFloat, DrawnWeights({4}, 5))
      .Node("Conv", {"x", "0.weight", "0.bias"}, {"c"})
      .Node("BatchNormalization",
            {"c", "1.weight", "1.bias", "1.running_mean", "1.running_var"},
            {"n"})
      .Attr("epsilon", 1e-5f)
      .Node("Relu", {"n"}, {"r"})
      .Node("Flatten", {"r"}, {"f"})
      .Node("Gemm", {"f", "4.weight", "4.bias"}, {"scores"})
      .Attr("transB", int64_t{1});
  if (with_softmax) {
    model.Node("Softmax", {"scores"}, {"p"}).Attr("axis", int64_t{-1});
  }
  return model.Output(with_softmax ? "p" : "scores", kFloat, {5, 4});
}

UpdateRule Momentum() {
  return {.optimizer = {.momentum = 0.9, .weight_decay = 0.01},
          .schedule = {.learning_rate = 0.1}};
}

Tensor Network(GraphBuilder& b, Tensor x, bool trains) {
  const auto weight = [&](const char* name, HostTensor initial,
                          bool trainable = true) {
    return trains ? b.Variable(name, std::move(initial), trainable)
                  : b.ReadVariable(name);
  };
  const Tensor w0 = weight("0.weight", DrawnWeights({3, 1, 2, 2}, 0));
  const Tensor b0 = weight("0.bias", DrawnWeights({3}, 1));
  const Tensor scale = weight("1.weight", DrawnWeights({3}, 2));
  const Tensor bias = weight("1.bias", DrawnWeights({3}, 3));
  const Tensor mean = weight("1.running_mean", Filled({3}, 0), false);
  const Tensor variance = weight("1.running_var", Filled({3}, 1), false);
  const Tensor w4 = weight("4.weight", DrawnWeights({4, 12}, 4));
  const Tensor b4 = weight("4.bias", DrawnWeights({4}, 5));
  const Tensor c = Conv(x, w0, b0);
  const Tensor n = trains ? BatchNormTraining(c, scale, bias, "1.running_mean",
                                              "1.running_var")
                          : BatchNorm(c, scale, bias, mean, variance);
  return MatMul(Reshape(Relu(n), {5, 12}), w4, {.transpose_b = true}) + b4;
}

Module Built(const UpdateRule& update) {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor scores = Network(b, b.Input("x", DType::kF32, {5, 1, 3, 3}),
                                /*trains=*/true);
  const Tensor loss =
      CrossEntropyLoss(scores, b.Input("labels", DType::kI64, {5}),
                       {.label_smoothing = update.label_smoothing});
  EXPECT_TRUE(Minimize(b, loss, step, update).ok());
  b.Output("loss", loss);
  b.BeginFunction("evaluate");
  b.Output("log_probabilities",
           LogSoftmax(Network(b, b.Input("x", DType::kF32, {5, 1, 3, 3}),
                              /*trains=*/false)));
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

absl::StatusOr<Module> Imported(const SketchedModel& model) {
  ImportOptions options;
  options.function = "train";
  options.weights_as_variables = true;
  return model.Import(options);
}

absl::StatusOr<Module> Training(const SketchedModel& model,
                                const std::string& loss,
                                const UpdateRule& update = Momentum()) {
  auto module = Imported(model);
  if (!module.ok()) return module.status();
  return TrainingOf(*std::move(module), loss, update);
}

std::string Refusal(const SketchedModel& model, const std::string& loss) {
  return std::string(Training(model, loss).status().message());
}

void ExpectClose(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-5 * (1 + std::fabs(expected[i])));
  }
}

std::vector<HostTensor> Batch(int step) {
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnWeights({5, 1, 3, 3}, 10 + step));
  inputs.push_back(DrawnIndices({5}, 4));
  inputs[1].data<int64_t>()[4] = -100;  // padding of the batch
  return inputs;
}

void ExpectStepsOfTheBuilder(const UpdateRule& update) {
  const auto imported = Training(Exported(), "cross-entropy", update);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Module built = Built(update);
  State found(*imported), expected(built);
  for (int step = 0; step < 6; ++step) {
    ExpectClose(
        ToNumbers(found.Step(*imported->FindFunction("train"), Batch(step))),
        ToNumbers(expected.Step(*built.FindFunction("train"), Batch(step))));
  }
  ASSERT_EQ(imported->variables().size(), built.variables().size());
  for (const Variable& variable : built.variables()) {
    SCOPED_TRACE(variable.name);
    const Variable* same = imported->FindVariable(variable.name);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(same->trainable, variable.trainable);
    ExpectClose(ToNumbers(found[variable.name]),
                ToNumbers(expected[variable.name]));
  }
  std::vector<HostTensor> images = Batch(9);
  images.pop_back();
  ExpectClose(
      ToNumbers(found.Step(*imported->FindFunction("evaluate"), images)),
      ToNumbers(expected.Step(*built.FindFunction("evaluate"), images)));
}

TEST(ImportedTraining, HasTheStepsOfTheSameNetworkOfTheBuilder) {
  UpdateRule update = Momentum();
  ExpectStepsOfTheBuilder(update);
  update.label_smoothing = 0.1;
  ExpectStepsOfTheBuilder(update);
}

// An untrained batch norm's scale and variance are ones, bias and mean zeros.
TEST(ImportedTraining, WeightsThatTheExporterSharedAreApartAgain) {
  SketchedModel model(17);
  model.Input("x", kFloat, {5, 3})
      .Constant("scale", kFloat, Filled({3}, 1))
      .Constant("bias", kFloat, Filled({3}, 0))
      .Node("Identity", {"scale"}, {"variance"})
      .Node("Identity", {"bias"}, {"mean"})
      .Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
            {"y"})
      .Output("y", kFloat, {5, 3});
  const auto module = Training(model, "cross-entropy");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->FindVariable("scale")->trainable, true);
  EXPECT_EQ(module->FindVariable("bias")->trainable, true);
  EXPECT_EQ(module->FindVariable("variance")->trainable, false);
  EXPECT_EQ(module->FindVariable("mean")->trainable, false);
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnWeights({5, 3}, 1));
  inputs.push_back(DrawnIndices({5}, 3));
  State state(*module);
  state.Step(*module->FindFunction("train"), inputs);
  EXPECT_NE(ToNumbers(state["scale"]), ToNumbers(state["variance"]));
  EXPECT_NE(ToNumbers(state["bias"]), ToNumbers(state["mean"]));
}

// However often it is read, it is one trained weight for all its readers.
TEST(ImportedTraining, OneInitializerIsOneVariableThroughIdentities) {
  const auto model = [](bool through_identities) {
    SketchedModel m(17);
    m.Input("x", kFloat, {5, 3}).Constant("w", kFloat, DrawnWeights({3, 3}, 0));
    if (through_identities) {
      m.Node("Identity", {"w"}, {"a"}).Node("Identity", {"w"}, {"b"});
    }
    m.Node("MatMul", {"x", through_identities ? "a" : "w"}, {"h"})
        .Node("Relu", {"h"}, {"r"})
        .Node("MatMul", {"r", through_identities ? "b" : "w"}, {"y"})
        .Output("y", kFloat, {5, 3});
    return m;
  };
  const auto shared = Training(model(false), "cross-entropy");
  const auto module = Training(model(true), "cross-entropy");
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_TRUE(shared.ok()) << shared.status();
  EXPECT_EQ(module->FindVariable("a"), nullptr);
  EXPECT_EQ(module->FindVariable("b"), nullptr);
  ASSERT_NE(module->FindVariable("w"), nullptr);
  State found(*module), expected(*shared);
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnWeights({5, 3}, 1));
  inputs.push_back(DrawnIndices({5}, 3));
  for (int step = 0; step < 20; ++step) {
    EXPECT_EQ(ToNumbers(found.Step(*module->FindFunction("train"), inputs)),
              ToNumbers(expected.Step(*shared->FindFunction("train"), inputs)));
  }
  EXPECT_EQ(ToNumbers(found["w"]), ToNumbers(expected["w"]));
}

// Common for inference models: the scores are trained.
TEST(ImportedTraining, ASoftmaxAtTheEndIsPartOfTheLoss) {
  const auto scores = Training(Exported(), "cross-entropy");
  const auto module =
      Training(Exported(/*with_softmax=*/true), "cross-entropy");
  ASSERT_TRUE(module.ok()) << module.status();
  State found(*module), expected(*scores);
  const std::vector<HostTensor> inputs = Batch(0);
  EXPECT_EQ(ToNumbers(found.Step(*module->FindFunction("train"), inputs)),
            ToNumbers(expected.Step(*scores->FindFunction("train"), inputs)));
}

// Scores [2, 4] after a global pooling, [2, 4, 1, 1], or such probabilities:
// before opset 13 a softmax treated all dimensions from the axis on as one.
SketchedModel Pooled(int opset, bool is_row, bool with_softmax = false) {
  SketchedModel model(opset);
  model.Input("x", kFloat, {2, 3, 2, 2})
      .Constant("w", kFloat, DrawnWeights({4, 3, 1, 1}, 0))
      .Node("Conv", {"x", "w"}, {"c"})
      .Node("GlobalAveragePool", {"c"}, {"pooled"});
  if (is_row) {
    return model.Node("Flatten", {"pooled"}, {"y"}).Output("y", kFloat, {2, 4});
  }
  if (!with_softmax) return model.Output("pooled", kFloat, {2, 4, 1, 1});
  return model.Node("Softmax", {"pooled"}, {"p"})
      .Attr("axis", int64_t{1})
      .Output("p", kFloat, {2, 4, 1, 1});
}

TEST(ImportedTraining, ClassesMayEndInExtentsOfOne) {
  const auto rows = Training(Pooled(17, /*is_row=*/true), "cross-entropy");
  ASSERT_TRUE(rows.ok()) << rows.status();
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnWeights({2, 3, 2, 2}, 1));
  inputs.push_back(DrawnIndices({2}, 4));
  State state(*rows);
  const Numbers loss =
      ToNumbers(state.Step(*rows->FindFunction("train"), inputs));
  const SketchedModel models[] = {Pooled(17, false), Pooled(17, false, true),
                                  Pooled(11, false, true)};
  for (const SketchedModel& model : models) {
    const auto module = Training(model, "cross-entropy");
    ASSERT_TRUE(module.ok()) << module.status();
    const Graph& train = *module->FindFunction("train");
    EXPECT_EQ(train.type(train.inputs()[1]).ToString(), "i64[2]");
    State found(*module);
    ExpectClose(ToNumbers(found.Step(train, inputs)), loss);
    const Graph& evaluate = *module->FindFunction("evaluate");
    EXPECT_EQ(evaluate.type(evaluate.outputs()[0]).ToString(), "f32[2, 4]");
    ExpectClose(ToNumbers(found["w"]), ToNumbers(state["w"]));
  }
}

// scores [n, classes, pixels]: a row for each pixel's label.
TEST(ImportedTraining, EvaluationHasARowForEachLabel) {
  SketchedModel model(17);
  model.Input("x", kFloat, {2, 1, 3})
      .Constant("w", kFloat, DrawnWeights({4, 1, 1}, 0))
      .Node("Conv", {"x", "w"}, {"scores"})
      .Output("scores", kFloat, {2, 4, 3});
  const auto module = Training(model, "nll");
  ASSERT_TRUE(module.ok()) << module.status();
  const Graph& train = *module->FindFunction("train");
  EXPECT_EQ(train.type(train.inputs()[1]).ToString(), "i64[2, 3]");
  State state(*module);
  const std::vector<HostTensor> inputs = [] {
    std::vector<HostTensor> one;
    one.push_back(DrawnWeights({2, 1, 3}, 1));
    return one;
  }();
  const auto rows = state.Step(*module->FindFunction("evaluate"), inputs);
  ASSERT_EQ(rows[0].type().ToString(), "f32[6, 4]");
  const Numbers x = ToNumbers(inputs[0]), w = ToNumbers(DrawnWeights({4}, 0));
  const Numbers found = ToNumbers(rows[0]);
  for (int row = 0; row < 6; ++row) {
    for (int c = 0; c < 4; ++c) {
      EXPECT_NEAR(found[row * 4 + c], x[row] * w[c], 1e-6);
    }
  }
}

// y = w x; the last two samples are padding.
TEST(ImportedTraining, MeanSquaresLeaveOutWhatIsNoNumber) {
  SketchedModel model(17);
  model.Input("x", kFloat, {4, 1})
      .Constant("w", kFloat, Filled({1, 1}, 3))
      .Node("MatMul", {"x", "w"}, {"y"})
      .Output("y", kFloat, {4, 1});
  const auto module =
      Training(model, "mse", {.schedule = {.learning_rate = 0.5}});
  ASSERT_TRUE(module.ok()) << module.status();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({4, 1}, {1, 2, 5, 7}));
  inputs.push_back(HostTensor::Of<float>({4, 1}, {1, 2, kNan, kNan}));
  State state(*module);
  // ((3 - 1)^2 + (6 - 2)^2) / 2, and w minus half of (2 * 2 + 2 * 4 * 2) / 2.
  EXPECT_EQ(ToNumbers(state.Step(*module->FindFunction("train"), inputs)),
            Numbers{10});
  EXPECT_EQ(ToNumbers(state["w"]), Numbers{-2});
}

TEST(ImportedTraining, AWeightMayBeCalledAsTheCountOfSteps) {
  SketchedModel model(17);
  model.Input("x", kFloat, {4, 1})
      .Constant("step", kFloat, Filled({1, 1}, 3))
      .Node("MatMul", {"x", "step"}, {"y"})
      .Output("y", kFloat, {4, 1});
  const auto module = Training(model, "mse");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(module->FindVariable("step")->trainable);
  EXPECT_NE(module->FindVariable("step_"), nullptr);
}

TEST(ImportedTraining, WhatCannotBeTrainedIsRefused) {
  EXPECT_EQ(Refusal(Exported(), "hinge"),
            "loss: found hinge; expected one of cross-entropy, nll, mse");
  const auto linear = [](const std::vector<int64_t>& x,
                         const std::vector<int64_t>& y) {
    SketchedModel model(17);
    model.Input("x", kFloat, x)
        .Constant("w", kFloat, Filled({2, 1}, 3))
        .Node("MatMul", {"x", "w"}, {"y"})
        .Output("y", kFloat, y);
    return model;
  };
  EXPECT_EQ(Refusal(linear({2}, {1}), "cross-entropy"),
            "output y of --loss cross-entropy: found f32[1]; expected [n, "
            "classes, d...]");
  EXPECT_EQ(Refusal(linear({3, 2}, {3, 1}).Output("w"), "mse"),
            "@train: found the outputs y, w; expected one, which the loss is "
            "of; export the model with that one");
  SketchedModel two_inputs = linear({3, 2}, {3, 1});
  two_inputs.Input("z", kFloat, {2});
  EXPECT_EQ(Refusal(two_inputs, "mse"),
            "input z: found f32[2]; expected the batch of 3 samples, as the "
            "output has it, as dimension 0; bind it by --dim or --shape");
  SketchedModel labels(17);
  labels.Input("labels", kFloat, {3, 2})
      .Constant("w", kFloat, Filled({2, 1}, 3))
      .Node("MatMul", {"labels", "w"}, {"y"})
      .Output("y", kFloat, {3, 1});
  EXPECT_EQ(Refusal(labels, "mse"),
            "input labels: found that name; expected another: it is the "
            "dataset's for what samples are");
  SketchedModel no_weight(17);
  no_weight.Input("x", kFloat, {3, 2}).Node("Relu", {"x"}, {"y"}).Output("y");
  EXPECT_EQ(Refusal(no_weight, "mse"),
            "output y: found no weight that it depends on smoothly: no node "
            "reads a float initializer of one dimension or more; expected ops "
            "that have a gradient between weights and output "
            "(docs/internals/gradients.md)");
}

SketchedModel BatchNormOperands() {
  SketchedModel model(17);
  return model.Input("x", kFloat, {5, 3})
      .Constant("scale", kFloat, Filled({3}, 1))
      .Constant("bias", kFloat, Filled({3}, 0))
      .Constant("mean", kFloat, Filled({3}, 0))
      .Constant("variance", kFloat, Filled({3}, 1));
}

TEST(ImportedTraining, RunningStatisticsAreThoseOfVariables) {
  EXPECT_TRUE(HasRunningStatistics(Imported(Exported()).value()));
  SketchedModel computed = BatchNormOperands();
  computed.Node("Abs", {"variance"}, {"v"})
      .Node("BatchNormalization", {"x", "scale", "bias", "mean", "v"}, {"y"})
      .Output("y", kFloat, {5, 3});
  EXPECT_FALSE(HasRunningStatistics(Imported(computed).value()));
  EXPECT_FALSE(
      HasRunningStatistics(Imported(Pooled(17, /*is_row=*/true)).value()));
}

// A module that is called twice is exported as two nodes that share everything.
TEST(ImportedTraining, StatisticsOfTwoBatchNormsAreRefused) {
  SketchedModel model = BatchNormOperands();
  model
      .Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
            {"h"})
      .Node("BatchNormalization", {"h", "scale", "bias", "mean", "variance"},
            {"y"})
      .Output("y", kFloat, {5, 3});
  EXPECT_EQ(Refusal(model, "cross-entropy"),
            "node n (batch_norm): found the running statistic mean, which "
            "node n has too; expected one of its own for each; give each its "
            "own running statistics, or export with folded batch norms");
}

TEST(ImportedTraining, AWeightMayNotBeCalledAsTheOptimizersState) {
  SketchedModel model(17);
  model.Input("x", kFloat, {4, 1})
      .Constant("w", kFloat, Filled({1, 1}, 3))
      .Constant("w.momentum", kFloat, Filled({1, 1}, 3))
      .Node("MatMul", {"x", "w"}, {"h"})
      .Node("MatMul", {"h", "w.momentum"}, {"y"})
      .Output("y", kFloat, {4, 1});
  EXPECT_TRUE(Training(model, "mse", UpdateRule()).ok());
  const std::string refusal(
      Training(model, "mse", Momentum()).status().message());
  EXPECT_TRUE(absl::EndsWith(
      refusal,
      "variable @w.momentum: found it in the model, and the optimizer keeps "
      "the momentum of @w by that name; expected no such variable; rename it, "
      "in ONNX the initializer, or take another optimizer"))
      << refusal;
}

TEST(ImportedTraining, AnOpWithoutAGradientIsNamed) {
  SketchedModel model(17);
  model.Input("x", kFloat, {3, 2})
      .Constant("w", kFloat, Filled({2, 4}, 3))
      .Node("MatMul", {"x", "w"}, {"scores"})
      .Node("ArgMax", {"scores"}, {"best"})
      .Attr("axis", int64_t{1})
      .Node("Cast", {"best"}, {"y"})
      .Attr("to", int64_t{kFloat})
      .Output("y");
  EXPECT_EQ(Refusal(model, "mse"),
            "output y: found no weight that it depends on smoothly: node n "
            "(arg_max) has no gradient; expected ops that have a gradient "
            "between weights and output (docs/internals/gradients.md)");
  SketchedModel integers(17);
  integers.Input("x", kFloat, {3, 2})
      .Constant("w", kFloat, Filled({2, 4}, 3))
      .Node("MatMul", {"x", "w"}, {"scores"})
      .Node("Cast", {"scores"}, {"y"})
      .Attr("to", int64_t{kInt64})
      .Output("y");
  EXPECT_EQ(Refusal(integers, "cross-entropy"),
            "output y of --loss cross-entropy: found i64[3, 4]; expected "
            "floats");
}

}  // namespace
}  // namespace partita
