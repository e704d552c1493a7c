// Tests where mixed precision inserts casts, and that a network learns with it.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/mixed_precision.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/dropout.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/builder/update_rule.h"
#include "graph/evaluate.h"
#include "graph/text/printer.h"

namespace partita {
namespace {

// Without locations, which change with every edit above.
std::string TextOf(GraphBuilder& b) {
  absl::StatusOr<Module> module = b.Build();
  if (!module.ok()) return std::string(module.status().message());
  for (NodeId id : module->main().order()) {
    module->main().node(id).location.clear();
  }
  return PrintModule(*module);
}

TEST(NarrowProducts, CastsEachFactorOnce) {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {2, 3});
  const Tensor y = MatMul(x, b.Input("v", DType::kF32, {3, 4})).Named("y");
  const Tensor z = MatMul(x, b.Input("w", DType::kF32, {3, 4})).Named("z");
  b.Output("sum", y + z);
  ASSERT_EQ(NarrowProducts(b, DType::kBF16), absl::OkStatus());
  EXPECT_EQ(
      TextOf(b),
      R"(graph @f(%x: f32[2, 3], %v: f32[3, 4], %w: f32[3, 4]) -> f32[2, 4] {
  %0 = cast %x {to = bf16} : bf16[2, 3]
  %1 = cast %v {to = bf16} : bf16[3, 4]
  %2 = matmul %0, %1 : bf16[2, 4]
  %y = cast %2 {to = f32} : f32[2, 4]
  %3 = cast %w {to = bf16} : bf16[3, 4]
  %4 = matmul %0, %3 : bf16[2, 4]
  %z = cast %4 {to = f32} : f32[2, 4]
  %5 = add %y, %z : f32[2, 4]
  return %5 as sum
}
)");
}

TEST(NarrowProducts, AddsABiasInF32) {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {2, 3, 5});
  const Tensor w = b.Input("w", DType::kF32, {4, 3, 2});
  const Tensor bias = b.Input("bias", DType::kF32, {4});
  b.Output("y", Conv(x, w, bias).Named("y"));
  ASSERT_EQ(NarrowProducts(b, DType::kF16), absl::OkStatus());
  EXPECT_EQ(
      TextOf(b),
      R"(graph @f(%x: f32[2, 3, 5], %w: f32[4, 3, 2], %bias: f32[4]) -> f32[2, 4, 4] {
  %0 = cast %x {to = f16} : f16[2, 3, 5]
  %1 = cast %w {to = f16} : f16[4, 3, 2]
  %2 = conv %0, %1 : f16[2, 4, 4]
  %3 = cast %2 {to = f32} : f32[2, 4, 4]
  %4 = reshape %bias {shape = [4, 1]} : f32[4, 1]
  %y = add %3, %4 : f32[2, 4, 4]
  return %y
}
)");
}

TEST(NarrowProducts, StaysInTheScopeOfTheLayer) {
  GraphBuilder b("f");
  const Tensor x = b.Input("x", DType::kF32, {2, 3});
  {
    const GraphBuilder::Scope scope(b, "layer");
    b.Output("y", MatMul(x, b.Variable("w", HeWeights({3, 4}, 3, 1))));
  }
  ASSERT_EQ(NarrowProducts(b, DType::kBF16), absl::OkStatus());
  const auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  for (NodeId id : module->main().order()) {
    EXPECT_EQ(module->main().node(id).scope, "layer");
  }
}

TEST(NarrowProducts, LeavesF32AndF64OnRequest) {
  for (const auto& [of, to] : {std::pair(DType::kF64, DType::kBF16),
                               std::pair(DType::kF32, DType::kF32)}) {
    GraphBuilder b("f");
    const Tensor x = b.Input("x", of, {2, 3});
    b.Output("y", MatMul(x, b.Input("w", of, {3, 4})));
    ASSERT_EQ(NarrowProducts(b, to), absl::OkStatus());
    const auto module = b.Build();
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(module->main().num_nodes(), 1);
  }
}

TEST(NarrowProducts, OtherTypesAreRefused) {
  GraphBuilder b("f");
  EXPECT_EQ(NarrowProducts(b, DType::kF64).message(),
            "precision: found f64; expected f32, bf16 or f16");
}

constexpr int64_t kBatch = 16;
constexpr int64_t kInputs = 12;
constexpr int64_t kClasses = 4;

Tensor Layer(Tensor x, int64_t width, uint64_t seed) {
  GraphBuilder& b = *x.builder();
  const std::string name = "w" + std::to_string(seed);
  return MatMul(x,
                b.Variable(name, HeWeights({x.dim(1), width}, x.dim(1), seed)));
}

// A perceptron of two layers.
Module TrainingIn(DType precision) {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor x = b.Input("x", DType::kF32, {kBatch, kInputs});
  const Tensor scores = Layer(Relu(Layer(x, 24, 1)), kClasses, 2);
  const Tensor loss =
      CrossEntropyLoss(scores, b.Input("labels", DType::kI64, {kBatch}));
  EXPECT_EQ(Minimize(b, loss, step,
                     {.optimizer = {.momentum = 0.9},
                      .schedule = {.learning_rate = 0.05},
                      .clip_norm = 1,
                      .precision = precision}),
            absl::OkStatus());
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Noise that is brighter at the position of the label.
std::vector<HostTensor> Batch(uint64_t seed) {
  HostTensor x =
      RandomTensor({DType::kF32, {kBatch, kInputs}, {}}, seed, -0.5, 0.5);
  HostTensor labels({DType::kI64, {kBatch}, {}});
  for (int64_t n = 0; n < kBatch; ++n) {
    const int64_t label =
        static_cast<int64_t>(RandomWord(seed, 1000 + n) % kClasses);
    labels.data<int64_t>()[n] = label;
    x.data<float>()[n * kInputs + label] += 1;
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(std::move(x));
  inputs.push_back(std::move(labels));
  return inputs;
}

struct Trained {
  std::vector<double> losses;
  std::map<std::string, HostTensor> variables;
};

Trained Train(const Module& module, int steps) {
  Trained trained;
  for (const Variable& variable : module.variables()) {
    trained.variables[variable.name] =
        module.literals().tensor(variable.initial).Clone();
  }
  for (int step = 0; step < steps; ++step) {
    VariableValues variables;
    for (const auto& [name, value] : trained.variables) {
      variables[name] = &value;
    }
    auto values = Evaluate(module.main(), Batch(step), variables);
    EXPECT_TRUE(values.ok()) << values.status();
    if (!values.ok()) break;
    trained.losses.push_back(GetAsDouble((*values)[0], 0));
    for (size_t i = 0; i < module.main().updates().size(); ++i) {
      trained.variables[module.main().updates()[i].variable] =
          std::move((*values)[i + 1]);
    }
  }
  return trained;
}

TEST(MixedPrecision, LearnsAsF32Does) {
  constexpr int kSteps = 60;
  const Trained singles = Train(TrainingIn(DType::kF32), kSteps);
  EXPECT_LT(singles.losses.back(), singles.losses.front() / 2);
  for (DType precision : {DType::kBF16, DType::kF16}) {
    SCOPED_TRACE(DTypeName(precision));
    const Trained halves = Train(TrainingIn(precision), kSteps);
    ASSERT_EQ(halves.losses.size(), singles.losses.size());
    EXPECT_NE(halves.losses, singles.losses);
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_NEAR(halves.losses[step], singles.losses[step], 0.05) << step;
    }
  }
}

// Weights, momenta and sums stay f32: adds an update that is too small for f16.
TEST(MixedPrecision, VariablesAreF32) {
  const Module module = TrainingIn(DType::kF16);
  for (const Variable& variable : module.variables()) {
    EXPECT_TRUE(variable.type.dtype == DType::kF32 || variable.name == "step")
        << variable.name;
  }
  const Trained trained = Train(module, 3);
  EXPECT_EQ(GetAsDouble(trained.variables.at("loss_scale.good_steps"), 0), 3);
  EXPECT_EQ(Train(TrainingIn(DType::kBF16), 1).variables.count("loss_scale"),
            0u);
}

}  // namespace
}  // namespace partita
