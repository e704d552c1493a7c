// Parts of training steps without a PyTorch reference: random numbers,
// accumulated gradients, and errors.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/dropout.h"
#include "graph/builder/loss_scaling.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/random_tensor.h"
#include "graph/builder/recurrent.h"
#include "graph/builder/schedules.h"
#include "graph/builder/update_rule.h"
#include "graph/evaluate.h"

namespace partita {
namespace {

std::vector<double> Numbers(const HostTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    numbers.push_back(GetAsDouble(tensor, i));
  }
  return numbers;
}

HostTensor Word(uint64_t value) {
  HostTensor word({DType::kU64, {}, {}});
  word.data<uint64_t>()[0] = value;
  return word;
}

HostTensor Float64(double value) {
  HostTensor number({DType::kF64, {}, {}});
  number.data<double>()[0] = value;
  return number;
}

// Two dropouts of ones, with this seed at this step.
struct Masks {
  std::vector<double> first;
  std::vector<double> second;
};
Masks MasksOf(double probability, uint64_t seed, uint64_t step) {
  GraphBuilder b("masks");
  const Randomness random = RandomOfSteps(b, seed, b.Constant(Word(step)));
  const Tensor ones = b.Scalar(DType::kF32, 1) +
                      b.Constant(HostTensor({DType::kF32, {4000}, {}}));
  b.Output("first", Dropout(ones, probability, random));
  b.Output("second", Dropout(ones, probability, random));
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  const auto values = Evaluate(module->main(), {});
  EXPECT_TRUE(values.ok()) << values.status();
  return {Numbers((*values)[0]), Numbers((*values)[1])};
}

TEST(Dropout, KeepsTheMeanAndDropsAtTheGivenRate) {
  const Masks masks = MasksOf(0.25, 1, 0);
  int dropped = 0;
  for (double x : masks.first) {
    EXPECT_TRUE(x == 0 || x == static_cast<float>(1 / 0.75)) << x;
    dropped += x == 0;
  }
  // Four standard deviations of 4000 draws are 110.
  EXPECT_NEAR(dropped, 1000, 110);
}

TEST(Dropout, NumbersDependOnSeedStepAndOpAlone) {
  const Masks masks = MasksOf(0.5, 1, 0);
  EXPECT_EQ(MasksOf(0.5, 1, 0).first, masks.first);
  EXPECT_NE(masks.second, masks.first);
  EXPECT_NE(MasksOf(0.5, 2, 0).first, masks.first);
  EXPECT_NE(MasksOf(0.5, 1, 1).first, masks.first);
}

TEST(Dropout, NothingAndEverythingCanBeDropped) {
  EXPECT_EQ(MasksOf(0, 1, 0).first, std::vector<double>(4000, 1));
  EXPECT_EQ(MasksOf(1, 1, 0).first, std::vector<double>(4000, 0));
}

TEST(Dropout, DropsWholeChannels) {
  GraphBuilder b("f");
  const Tensor x = b.Constant(HostTensor({DType::kF32, {8, 8, 3}, {}})) + 1;
  b.Output("y", Dropout2d(x, 0.5, RandomOfSteps(b, 1, b.Constant(Word(0)))));
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const auto values = Evaluate(module->main(), {});
  ASSERT_TRUE(values.ok()) << values.status();
  const std::vector<double> y = Numbers((*values)[0]);
  int dropped = 0;
  for (size_t i = 0; i < y.size(); i += 3) {
    EXPECT_EQ(y[i], y[i + 1]);
    EXPECT_EQ(y[i], y[i + 2]);
    dropped += y[i] == 0;
  }
  EXPECT_GT(dropped, 16);
  EXPECT_LT(dropped, 48);
}

using Drop = Tensor (*)(Tensor, double, const Randomness&, CallSite);

// The sum of squares of a dropout of w's squares, and its gradient by w.
absl::StatusOr<Module> DroppedSquares(Drop drop, const Shape& dims) {
  GraphBuilder b("f");
  const Tensor w = b.Variable("w", HostTensor({DType::kF64, dims, {}}));
  const Randomness random = RandomOfSteps(b, 1, b.Constant(Word(0)));
  const Tensor y = drop(w * w, 0.5, random, CallSite::current());
  const Tensor loss = ReduceSum(y * y, {0, 1, 2}, /*keep_dims=*/false);
  b.Output("loss", loss);
  b.Output("gradient", b.Gradients(loss)[0].gradient);
  return b.Build();
}

TEST(Dropout, GradientsAreSlopes) {
  constexpr double kStep = 1e-4;
  for (const Drop drop : {&Dropout, &Dropout2d}) {
    HostTensor w({DType::kF64, {4, 3, 2}, {}});
    for (int i = 0; i < 24; ++i) w.data<double>()[i] = 0.1 * (i + 1);
    const auto module = DroppedSquares(drop, w.type().dims);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto at_w = [&](int output) {
      const auto values = Evaluate(module->main(), {}, {{"w", &w}});
      EXPECT_TRUE(values.ok()) << values.status();
      return Numbers((*values)[output]);
    };
    const std::vector<double> gradient = at_w(1);
    EXPECT_GT(absl::c_count(gradient, 0), 0);
    EXPECT_LT(absl::c_count(gradient, 0), 24);
    for (int i = 0; i < 24; ++i) {
      double& element = w.data<double>()[i];
      const double value = element;
      element = value + kStep;
      const double above = at_w(0)[0];
      element = value - kStep;
      const double below = at_w(0)[0];
      element = value;
      EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-5) << i;
    }
  }
}

// The step in docs/internals/gradients.md.
TEST(Training, TheDocumentedStepRuns) {
  GraphBuilder b("train");
  Tensor step = CountSteps(b);
  Tensor x = b.Input("x", DType::kF32, {64, 784});
  Tensor labels = b.Input("labels", DType::kI64, {64});
  Tensor w = b.Variable("w", HeWeights({784, 10}, 784, /*seed=*/1));
  Tensor loss = CrossEntropyLoss(
      Dropout(MatMul(x, w), 0.5, RandomOfSteps(b, /*seed=*/1, step)), labels);
  Adam(ClipByNorm(b.Gradients(loss), 1.0), CosineDecay(step, 1e-3, 1e-5, 10000),
       step);
  b.Output("loss", loss);
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  VariableValues state;
  for (const Variable& variable : module->variables()) {
    state[variable.name] = &module->literals().tensor(variable.initial);
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(RandomTensor({DType::kF32, {64, 784}, {}}, 2, 0, 1));
  inputs.push_back(HostTensor({DType::kI64, {64}, {}}));
  const auto values = Evaluate(module->main(), inputs, state);
  ASSERT_TRUE(values.ok()) << values.status();
  // The loss, the weights, two moments, and the count of steps.
  EXPECT_EQ(values->size(), 5u);
  EXPECT_GT(Numbers((*values)[0])[0], 0);
}

// So that a pin of the layer applies to it.
TEST(ClipByNorm, ScalesEachGradientInTheScopeOfItsLayer) {
  GraphBuilder b("clip");
  const Tensor x = b.Input("x", DType::kF64, {});
  Tensor y;
  {
    const GraphBuilder::Scope scope(b, "layer");
    y = b.Variable("w", Float64(10)) * x;
  }
  const std::vector<Parameter> clipped = ClipByNorm(b.Gradients(y), 1);
  ASSERT_EQ(clipped.size(), 1u);
  EXPECT_EQ(clipped[0].gradient.scope(), "layer");
}

std::vector<float> Clipped(const std::vector<float>& gradient,
                           double max_norm) {
  GraphBuilder b("clip");
  const Tensor w = b.Constant(
      HostTensor::Of<float>({static_cast<int64_t>(gradient.size())}, gradient));
  b.Output("clipped", ClipByNorm({{"w", w, w}}, max_norm)[0].gradient);
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  const auto values = Evaluate(module->main(), {});
  EXPECT_TRUE(values.ok()) << values.status();
  const auto clipped = (*values)[0].data<float>();
  return {clipped.begin(), clipped.end()};
}

// With norm 0.5, and with norm 0.
TEST(ClipByNorm, GradientsBelowTheLimitStayBitForBit) {
  const std::vector<float> gradient = {0.3f, -0.4f, 1e-20f};
  for (const double max_norm : {0.51, 1.0, 1e6}) {
    EXPECT_EQ(Clipped(gradient, max_norm), gradient) << max_norm;
  }
  EXPECT_EQ(Clipped({0, 0}, 1), std::vector<float>({0, 0}));
  EXPECT_NEAR(Clipped(gradient, 0.25)[1], -0.2, 1e-6);
}

// Two batches, then one update of w = 10 by the mean of their gradients 1 and
// 3, at rate 1.
TEST(AccumulatedGradients, UpdateByTheirMeanAndStartAgain) {
  GraphBuilder b("accumulate");
  const Tensor x = b.Input("x", DType::kF64, {});
  const Tensor w = b.Variable("w", Float64(10));
  const std::vector<Parameter> parameters = b.Gradients(w * x);
  AccumulateGradients(parameters);
  b.BeginFunction("update");
  Sgd(AccumulatedGradients(b, parameters, 2), b.Scalar(DType::kF64, 1));
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();

  HostTensor sum = Float64(0);
  const HostTensor start = Float64(10);
  for (double batch : {1, 3}) {
    std::vector<HostTensor> inputs;
    inputs.push_back(Float64(batch));
    auto values =
        Evaluate(module->main(), inputs, {{"w", &start}, {"w.gradient", &sum}});
    ASSERT_TRUE(values.ok()) << values.status();
    ASSERT_EQ(values->size(), 1u);
    sum = std::move((*values)[0]);
  }
  EXPECT_EQ(Numbers(sum), std::vector<double>{4});
  const auto updates = Evaluate(*module->FindFunction("update"), {},
                                {{"w", &start}, {"w.gradient", &sum}});
  ASSERT_TRUE(updates.ok()) << updates.status();
  ASSERT_EQ(updates->size(), 2u);
  EXPECT_EQ(Numbers((*updates)[0]), std::vector<double>{0});
  EXPECT_EQ(Numbers((*updates)[1]), std::vector<double>{8});
}

TEST(Gradients, AreByTrainableVariablesThatAreRead) {
  GraphBuilder b("f");
  const HostTensor one = Float64(1);
  const Tensor w = b.Variable("w", one.Clone());
  const Tensor fixed = b.Variable("fixed", one.Clone(), /*trainable=*/false);
  const Tensor loss = w * fixed;
  const std::vector<Parameter> parameters = b.Gradients(loss);
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].variable, "w");
  EXPECT_EQ(parameters[0].value.id(), w.id());
  EXPECT_TRUE(parameters[0].gradient.valid());
}

// One step of SGD on x w at rate 1. The gradient, x times the scale, is
// computed in f16.
struct HalfStep {
  double scale, good_steps, skipped_steps, w;
};
HalfStep StepInHalf(double x, double scale, double good_steps,
                    LossScaleOptions options = {}) {
  options.growth = 4;
  options.growth_every = 2;
  GraphBuilder b("train");
  const Tensor input = b.Input("x", DType::kF32, {});
  HostTensor start({DType::kF32, {}, {}});
  start.data<float>()[0] = 10;
  const Tensor w = b.Variable("w", std::move(start));
  const Tensor loss =
      Cast(Cast(w, DType::kF16) * Cast(input, DType::kF16), DType::kF32);
  const ScaledGradients scaled = GradientsAtScale(loss, options);
  {
    const GraphBuilder::UpdateIf finite(b, scaled.finite);
    Sgd(scaled.parameters, b.Scalar(DType::kF32, 1));
  }
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  const auto scalar = [](double value) {
    HostTensor tensor({DType::kF32, {}, {}});
    tensor.data<float>()[0] = static_cast<float>(value);
    return tensor;
  };
  const HostTensor scale_value = scalar(scale);
  const HostTensor good_value = scalar(good_steps);
  const HostTensor skipped_value = scalar(5);
  const HostTensor w_value = scalar(10);
  std::vector<HostTensor> inputs;
  inputs.push_back(scalar(x));
  const auto values = Evaluate(module->main(), inputs,
                               {{kLossScale, &scale_value},
                                {"loss_scale.good_steps", &good_value},
                                {kSkippedSteps, &skipped_value},
                                {"w", &w_value}});
  EXPECT_TRUE(values.ok()) << values.status();
  return {Numbers((*values)[0])[0], Numbers((*values)[1])[0],
          Numbers((*values)[2])[0], Numbers((*values)[3])[0]};
}

TEST(LossScaling, UnscalesGradients) {
  const HalfStep step = StepInHalf(3, 1024, 0);
  EXPECT_EQ(step.w, 7);
  EXPECT_EQ(step.scale, 1024);
  EXPECT_EQ(step.good_steps, 1);
  EXPECT_EQ(step.skipped_steps, 5);
}

TEST(LossScaling, GrowsAfterGoodStepsInARow) {
  const HalfStep step = StepInHalf(3, 1024, 1);
  EXPECT_EQ(step.scale, 4096);
  EXPECT_EQ(step.good_steps, 0);
}

// 3 times 32768 overflows f16.
TEST(LossScaling, AStepThatOverflowsChangesOnlyTheScale) {
  const HalfStep step = StepInHalf(3, 32768, 1);
  EXPECT_EQ(step.w, 10);
  EXPECT_EQ(step.scale, 16384);
  EXPECT_EQ(step.good_steps, 0);
  EXPECT_EQ(step.skipped_steps, 6);
}

// All five steps before were skipped: Adam's first step has the full rate, for
// any gradient.
TEST(LossScaling, AdamDoesNotCountSkippedSteps) {
  GraphBuilder b("train");
  const Tensor step = b.Variable("step", HostTensor::Of<int64_t>({}, {5}),
                                 /*trainable=*/false);
  const Tensor w = b.Variable("w", HostTensor::Of<float>({1}, {10}));
  const absl::Status status = Minimize(b, ReduceSum(w * 3, {0}, false), step,
                                       {.optimizer = {.name = "adam"},
                                        .schedule = {.learning_rate = 0.5},
                                        .precision = DType::kF16});
  ASSERT_EQ(status, absl::OkStatus());
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const HostTensor five = HostTensor::Of<float>({}, {5});
  VariableValues variables;
  for (const Variable& variable : module->variables()) {
    variables[variable.name] = &module->literals().tensor(variable.initial);
  }
  variables[kSkippedSteps] = &five;
  const auto values = Evaluate(module->main(), {}, variables);
  ASSERT_TRUE(values.ok()) << values.status();
  double next = 0;
  for (size_t i = 0; i < module->main().updates().size(); ++i) {
    if (module->main().updates()[i].variable == "w") {
      next = Numbers((*values)[i])[0];
    }
  }
  EXPECT_NEAR(next, 9.5, 1e-5);
}

// A scale of 0 or infinity would stop all training.
TEST(LossScaling, TheScaleStaysWithinBounds) {
  EXPECT_EQ(StepInHalf(3, 1024, 1, {.most = 2000}).scale, 2000);
  EXPECT_EQ(StepInHalf(3, 32768, 1, {.least = 20000}).scale, 20000);
}

// The message of a function's first error, without the location.
template <typename Build>
std::string Refusal(Build&& build) {
  GraphBuilder b("f");
  build(b);
  const std::string message(b.Build().status().message());
  EXPECT_EQ(message.rfind("graph/builder/training_test.cc:", 0), 0u) << message;
  return message.substr(message.find(": ") + 2);
}

TEST(TrainingErrors, NameTheFaultAndTheCallersLine) {
  const auto input = [](GraphBuilder& b, Shape dims) {
    return b.Input("x", DType::kF32, std::move(dims));
  };
  EXPECT_EQ(
      Refusal([&](GraphBuilder& b) {
        CrossEntropyLoss(input(b, {4, 5}), b.Input("labels", DType::kI64, {5}));
      }),
      "loss: found labels i64[5] for f32[4, 5]; expected [n, d...] for "
      "[n, classes, d...]; reshape one of them");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              Dropout(input(b, {4}), 1.5,
                      RandomOfSteps(b, 1, b.Constant(Word(0))));
            }),
            "dropout: found the probability 1.5; expected 0..1; correct it");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              Dropout2d(input(b, {4}), 0.5,
                        RandomOfSteps(b, 1, b.Constant(Word(0))));
            }),
            "dropout2d: found f32[4]; expected [n, channels, ...]; use "
            "Dropout");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              const Tensor x = input(b, {4, 5});
              Rnn(x, x, {x, x, x, x});
            }),
            "recurrent: found x f32[4, 5] and a state f32[4, 5]; expected "
            "[time, n, features] of one time step or more, and [n, h]; "
            "reshape them");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              const Tensor x = input(b, {1, 5});
              BatchNormTraining(x, x, x, "mean", "variance");
            }),
            "batch norm in training: found f32[1, 5] in 1 shard; expected [n, "
            "channels, ...] of equal shards with two elements a channel or "
            "more; use another batch");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              const Tensor x = input(b, {5, 5});
              BatchNormTraining(x, x, x, "mean", "variance", {.shards = 2});
            }),
            "batch norm in training: found f32[5, 5] in 2 shards; expected [n, "
            "channels, ...] of equal shards with two elements a channel or "
            "more; use another batch");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              const Tensor x = input(b, {4, 5});
              BatchNormTraining(x, b.Scalar(DType::kF32, 1), x, "mean",
                                "variance", {.shards = 2});
            }),
            "batch norm in training: found a scale or bias f32[] for f32[4, "
            "5]; expected [5], an element for each channel");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) {
              CosineDecay(b.Constant(Word(0)), 1, 0, 0);
            }),
            "schedule: found a length of 0 steps; expected 1 or more; correct "
            "it");
  EXPECT_EQ(Refusal([&](GraphBuilder& b) { Slice(input(b, {4}), 1, 0, 1); }),
            "slice: found axis 1 on f32[4]; expected 0..0; correct the axis");
}

// The loss of {1, 2, 3, 4}.
std::vector<float> GradientOf(const std::function<Tensor(Tensor)>& loss) {
  GraphBuilder b("loss");
  const Tensor x = b.Input("x", DType::kF32, {2, 2});
  b.Output("dx", b.Gradients(loss(x), {x})[0]);
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({2, 2}, {1, 2, 3, 4}));
  const auto values = Evaluate(module->main(), inputs);
  EXPECT_TRUE(values.ok()) << values.status();
  const absl::Span<const float> gradient = (*values)[0].data<float>();
  return {gradient.begin(), gradient.end()};
}

// As in PyTorch.
TEST(Losses, IgnoredExamplesHaveNoGradient) {
  const std::vector<float> zeros(4, 0);
  for (const double smoothing : {0.0, 0.1}) {
    EXPECT_EQ(
        GradientOf([&](Tensor x) {
          const Tensor labels =
              x.builder()->Constant(HostTensor::Of<int64_t>({2}, {-100, -100}));
          return CrossEntropyLoss(x, labels, {.label_smoothing = smoothing});
        }),
        zeros);
  }
  const float nan = std::nanf("");
  EXPECT_EQ(GradientOf([&](Tensor x) {
              const Tensor target = x.builder()->Constant(
                  HostTensor::Of<float>({2, 2}, {nan, nan, nan, nan}));
              return MseLoss(x, target, {.ignore_nan = true});
            }),
            zeros);
}

// The class of an ignored example may have probability 0.
TEST(Losses, AnIgnoredExampleMayHaveAnyProbabilities) {
  const float never = -std::numeric_limits<float>::infinity();
  GraphBuilder b("loss");
  const Tensor x =
      b.Constant(HostTensor::Of<float>({2, 2}, {never, 0, -2, -1}));
  b.Output("loss",
           NllLoss(x, b.Constant(HostTensor::Of<int64_t>({2}, {-100, 1}))));
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const auto values = Evaluate(module->main(), {});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(GetAsDouble((*values)[0], 0), 1);
}

// A label that is out of range and not ignored ends the step. Only the first
// error is reported; later calls make no nodes.
TEST(TrainingErrors, ABatchNormAfterAnErrorReportsNone) {
  for (const int shards : {1, 2}) {
    EXPECT_EQ(
        Refusal([&](GraphBuilder& b) {
          const Tensor x = b.Input("x", DType::kF32, {4, 3});
          const Tensor line = b.Input("line", DType::kF32, {3});
          CosineDecay(b.Constant(Word(0)), 1, 0, 0);
          BatchNormTraining(x, line, line, "mean", "variance",
                            {.shards = shards});
        }),
        "schedule: found a length of 0 steps; expected 1 or more; correct "
        "it");
  }
}

TEST(TrainingErrors, ALabelOutOfRangeIsNamed) {
  for (int64_t label : {5, -1}) {
    GraphBuilder b("f");
    const Tensor scores = b.Constant(HostTensor({DType::kF32, {1, 5}, {}}));
    b.Output("loss",
             CrossEntropyLoss(
                 scores, b.Constant(HostTensor::Of<int64_t>({1}, {label}))));
    const auto module = b.Build();
    ASSERT_TRUE(module.ok()) << module.status();
    const auto values = Evaluate(module->main(), {});
    EXPECT_NE(
        values.status().message().find(absl::StrCat(
            "found index ", label, "; expected 0..4; correct the indices")),
        absl::string_view::npos)
        << values.status();
  }
}

}  // namespace
}  // namespace partita
