// Every optimizer, accumulated gradients and recurrent layers as plans, on one
// device and on replicas with uneven shards, with sharded updates or without.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/dropout.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/random_tensor.h"
#include "graph/builder/recurrent.h"
#include "graph/builder/update_rule.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 5;
constexpr int64_t kFeatures = 6;
constexpr int64_t kTime = 3;
constexpr int64_t kHidden = 4;
constexpr int kSteps = 4;
// Between one device and two; observed: 2.
constexpr double kRoundings = 16;

HostTensor Floats(Shape dims, uint64_t seed) {
  return RandomTensor({DType::kF32, std::move(dims), {}}, seed, -1, 1);
}

using Layers = absl::FunctionRef<Tensor(GraphBuilder&, Tensor)>;

// From x to [kBatch, 3].
Tensor TwoLayers(GraphBuilder& b, Tensor x) {
  const Tensor hidden =
      Relu(MatMul(x, b.Variable("w1", Floats({kFeatures, 8}, 1))) +
           b.Variable("b1", Floats({8}, 2)));
  return MatMul(hidden, b.Variable("w2", Floats({8, 3}, 3)));
}

Tensor MeanSquare(GraphBuilder& b, Shape x, Layers layers) {
  const Tensor y = layers(b, b.Input("x", DType::kF32, std::move(x)));
  return MseLoss(y, b.Input("target", DType::kF32, y.type().dims));
}

Module Built(GraphBuilder& b) {
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

Module TrainedBy(const UpdateRule& rule, Shape x, Layers layers) {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor loss = MeanSquare(b, std::move(x), layers);
  EXPECT_TRUE(Minimize(b, loss, step, rule).ok());
  b.Output("loss", loss);
  return Built(b);
}

std::unique_ptr<Session> OverDevices(const Module& module, int devices,
                                     bool shards_updates = false) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "data";
  if (shards_updates) options.planner.sharded_update_bytes = 0;
  return TrainingSession(module.Clone(), EqualCpus(devices, kTrainingMemory),
                         options);
}

// Variables that are sharded over the devices.
int ShardedVariables(const Session& session) {
  int sharded = 0;
  for (const OpView& op : session.plan().module.main().ops(kVariable)) {
    sharded += IsSharded(op);
  }
  return sharded;
}

// Whole variables are equal on all devices.
void ExpectEqualWholes(Session& session) {
  for (const Variable& variable : session.plan().module.variables()) {
    SCOPED_TRACE(absl::StrCat("variable ", variable.name));
    const auto values = session.ReadReplicas(variable.name);
    ASSERT_TRUE(values.ok()) << values.status();
    for (const HostTensor& value : *values) {
      EXPECT_TRUE(SameBits(value, values->front()));
    }
  }
}

std::vector<HostTensor> Batch(const Session& session, int step) {
  std::vector<HostTensor> inputs;
  for (int i = 0; i < session.num_inputs(); ++i) {
    inputs.push_back(Floats(session.input_type(i).dims, 10 * step + i + 9));
  }
  return inputs;
}

// Every step has the bits of its reference, on every device; two devices have
// one device's results except for the order of sums.
void ExpectTrains(const Module& module) {
  const auto one = OverDevices(module, 1);
  const auto two = OverDevices(module, 2);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<HostTensor> inputs = Batch(*one, step);
    const Numbers loss = CheckedStep(*one, step, inputs);
    EXPECT_LE(RoundingsApart(CheckedStep(*two, step, inputs), loss),
              kRoundings);
    ExpectEqualReplicas(*two, 2);
  }
  ExpectSameVariables(VariablesOf(*two), VariablesOf(*one), kRoundings);
}

TEST(OptimizerPlans, EachOptimizerKeepsReplicasEqual) {
  std::vector<OptimizerOptions> choices = {
      {.name = "sgd", .momentum = 0.9, .weight_decay = 0.1, .nesterov = true},
      {.name = "rmsprop", .momentum = 0.5, .weight_decay = 0.1}};
  for (const std::string& name : OptimizerNames()) {
    choices.push_back({.name = name});
    choices.push_back({.name = name, .weight_decay = 0.1});
  }
  for (const OptimizerOptions& choice : choices) {
    SCOPED_TRACE(absl::StrCat(choice.name, ", momentum ", choice.momentum,
                              ", decay ", choice.weight_decay));
    ExpectTrains(TrainedBy({.optimizer = choice,
                            .schedule = {.learning_rate = 0.01},
                            .clip_norm = 0.5},
                           {kBatch, kFeatures}, TwoLayers));
  }
}

// Each step has the bits of its reference, and one device's results except for
// the order of sums; `exact`: the bits of as many devices without sharded
// updates.
void ExpectTrainsInParts(const Module& module, int devices, bool exact) {
  const auto one = OverDevices(module, 1);
  const auto whole = OverDevices(module, devices);
  const auto parts = OverDevices(module, devices, /*shards_updates=*/true);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(whole, nullptr);
  ASSERT_NE(parts, nullptr);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<HostTensor> inputs = Batch(*one, step);
    CheckedStep(*one, step, inputs);
    CheckedStep(*whole, step, inputs);
    CheckedStep(*parts, step, inputs);
    ExpectEqualWholes(*parts);
    if (exact) ExpectSameBits(*parts, *whole);
  }
  ExpectSameVariables(VariablesOf(*parts), VariablesOf(*one), kRoundings);
}

TEST(OptimizerPlans, EachOptimizersUpdatesCanBeSharded) {
  for (const std::string& name : OptimizerNames()) {
    for (const int devices : {2, 3}) {
      SCOPED_TRACE(absl::StrCat(name, " on ", devices, " devices"));
      const UpdateRule rule = {
          .optimizer = {.name = name, .momentum = name == "sgd" ? 0.9 : 0.0},
          .schedule = {.learning_rate = 0.01}};
      const Module module = TrainedBy(rule, {kBatch, kFeatures}, TwoLayers);
      ExpectTrainsInParts(module, devices, /*exact=*/true);
      const auto parts = OverDevices(module, devices, true);
      // One state each for w1 and w2, or two. (The gradient of b1 is reshaped
      // from one row, which cannot be sharded.)
      EXPECT_EQ(ShardedVariables(*parts), name.starts_with("adam") ? 4 : 2);
    }
  }
}

// The planner counts a shard of a moment, and no memory for a shard's new
// value.
TEST(OptimizerPlans, WhatFitsShardedIsNotRefused) {
  const UpdateRule rule = {.optimizer = {.name = "adam"}};
  const Module module =
      TrainedBy(rule, {kBatch, 256}, [](GraphBuilder& b, Tensor x) {
        return MatMul(x, b.Variable("w", Floats({256, 512}, 1)));
      });
  CompileOptions options;
  options.strategy = "data";
  const auto arena = [&](int64_t memory) -> int64_t {
    const auto compiled =
        Compile(module.Clone(), EqualCpus(2, memory), options);
    return compiled.ok() ? compiled->report.devices[0].arena : 0;
  };
  const int64_t whole = arena(kTrainingMemory);
  options.planner.sharded_update_bytes = 0;
  const int64_t parts = arena(kTrainingMemory);
  ASSERT_GT(parts, 0);
  // Each device has half of both moments.
  EXPECT_LT(parts, whole - 256 * 512 * 4 * 9 / 10);
  EXPECT_GT(arena(parts + parts / 20), 0);
}

// The norm is a sum of the shards' sums.
TEST(OptimizerPlans, UpdatesByClippedGradientsCanBeSharded) {
  const UpdateRule rule = {.optimizer = {.name = "adamw", .weight_decay = 0.1},
                           .schedule = {.learning_rate = 0.01},
                           .clip_norm = 0.5};
  ExpectTrainsInParts(TrainedBy(rule, {kBatch, kFeatures}, TwoLayers), 2,
                      /*exact=*/false);
}

RecurrentWeights WeightsOf(GraphBuilder& b, int64_t gates) {
  const int64_t rows = gates * kHidden;
  return {b.Variable("w", Floats({rows, kFeatures}, 1)),
          b.Variable("u", Floats({rows, kHidden}, 2)),
          b.Variable("b", Floats({rows}, 3)),
          b.Variable("c", Floats({rows}, 4))};
}

// The last states, [kBatch, kHidden], of x[kBatch, kTime, kFeatures].
template <typename Recurrence>
Tensor LastState(GraphBuilder& b, Tensor x, int64_t gates,
                 const Recurrence& recurrence) {
  const Tensor start =
      b.Constant(HostTensor({DType::kF32, {kBatch, kHidden}, {}}));
  return recurrence(Transpose(x, {1, 0, 2}), start, WeightsOf(b, gates)).hidden;
}

TEST(OptimizerPlans, RecurrentLayersTrain) {
  const UpdateRule rule = {.schedule = {.learning_rate = 0.1}};
  const Shape x = {kBatch, kTime, kFeatures};
  ExpectTrains(TrainedBy(rule, x, [](GraphBuilder& b, Tensor x) {
    return LastState(b, x, 1, [](auto... of) { return Rnn(of...); });
  }));
  ExpectTrains(TrainedBy(rule, x, [](GraphBuilder& b, Tensor x) {
    return LastState(b, x, 3, [](auto... of) { return Gru(of...); });
  }));
}

// @train adds a batch's gradients to the sum, @update applies their mean.
Module Accumulating(int batches) {
  GraphBuilder b("train");
  const Tensor loss = MeanSquare(b, {kBatch, kFeatures}, TwoLayers);
  b.Output("loss", loss);
  const std::vector<Parameter> parameters = b.Gradients(loss);
  AccumulateGradients(parameters);
  b.BeginFunction("update");
  const Tensor rate = b.Scalar(DType::kF32, 0.1);
  Sgd(AccumulatedGradients(b, parameters, batches), rate, {.momentum = 0.9});
  b.Output("rate", rate);
  return Built(b);
}

Numbers StepOf(Session& session, const char* entry, int step) {
  EXPECT_TRUE(session.UseEntry(entry).ok());
  return CheckedStep(session, step, Batch(session, step));
}

TEST(OptimizerPlans, GradientsAreAccumulatedOverBatches) {
  const Module module = Accumulating(/*batches=*/3);
  const auto one = OverDevices(module, 1);
  const auto two = OverDevices(module, 2);
  ASSERT_NE(one, nullptr);
  ASSERT_NE(two, nullptr);
  for (int update = 0; update < 2; ++update) {
    for (int batch = 0; batch < 3; ++batch) {
      const int step = 3 * update + batch;
      const Numbers loss = StepOf(*one, "train", step);
      EXPECT_LE(RoundingsApart(StepOf(*two, "train", step), loss), kRoundings);
    }
    StepOf(*one, "update", update);
    StepOf(*two, "update", update);
  }
  EXPECT_EQ(two->ReadReplicas("w1")->size(), 2u);
  EXPECT_EQ(two->ReadReplicas("w1.gradient")->size(), 2u);
  ExpectSameVariables(VariablesOf(*two), VariablesOf(*one), kRoundings);
}

// Each device accumulates its shard of the gradients.
TEST(OptimizerPlans, AccumulatedGradientsAreSharded) {
  const Module module = Accumulating(/*batches=*/2);
  const auto whole = OverDevices(module, 2);
  const auto parts = OverDevices(module, 2, /*shards_updates=*/true);
  ASSERT_NE(whole, nullptr);
  ASSERT_NE(parts, nullptr);
  EXPECT_EQ(parts->ReadReplicas("w1.gradient")->size(), 1u);
  for (int step = 0; step < 4; ++step) {
    for (const auto& session : {whole.get(), parts.get()}) {
      StepOf(*session, "train", step);
      if (step % 2 == 1) StepOf(*session, "update", step);
    }
    ExpectSameBits(*parts, *whole);
  }
}

}  // namespace
}  // namespace partita
