// Training with micro-batches, one step for all of them: on one device, as a
// pipeline or with replicas.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/pipeline_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr PipelineSchedule kSchedules[] = {
    PipelineSchedule::kOneForwardOneBackward, PipelineSchedule::kGPipe};

// Ten times the observed distance after four steps.
constexpr double kRoundings = 25;

constexpr PerceptronSizes kSizes = {.layers = 4, .width = 16, .batch = 16};

CompileOptions InParts(int devices, int micro_batches,
                       PipelineSchedule schedule) {
  CompileOptions options;
  options.strategy = devices == 1 ? "single" : "pipeline";
  if (devices > 1) options.planner.stages = devices;
  options.micro_batches = micro_batches;
  if (micro_batches > 1) options.schedule = schedule;
  return options;
}

// Convolutions, pools and dropout: the dropped elements do not depend on the
// micro-batches.
TEST(MicroBatchTraining, ADeviceTrainsAsItDoesWithTheWholeBatch) {
  const auto expect_trains = [](int micro_batches, PipelineSchedule schedule) {
    SCOPED_TRACE(absl::StrCat(micro_batches, " micro-batches"));
    const auto session =
        TrainingSession(MnistModule(0.2), EqualCpus(1, kTrainingMemory),
                        InParts(1, micro_batches, schedule));
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsEvalDoes(*session);
  };
  expect_trains(2, PipelineSchedule::kOneForwardOneBackward);
  expect_trains(8, PipelineSchedule::kOneForwardOneBackward);
  expect_trains(4, PipelineSchedule::kGPipe);
}

std::unique_ptr<Session> Perceptron(int devices, int micro_batches,
                                    PipelineSchedule schedule) {
  return TrainingSession(PerceptronTraining(kSizes),
                         EqualCpus(devices, kTrainingMemory),
                         InParts(devices, micro_batches, schedule));
}

// Four steps.
void ExpectTrainsAsEval(Session& session) {
  const Module module = PerceptronTraining(kSizes);
  State state(module);
  for (int step = 0; step < 4; ++step) {
    const std::vector<HostTensor> inputs = PerceptronBatch(kSizes, step);
    const Numbers loss = CheckedStep(session, step, inputs);
    EXPECT_LE(
        RoundingsApart(loss, ToNumbers(state.Step(module.main(), inputs))),
        kRoundings)
        << "step " << step;
  }
  ExpectSameVariables(VariablesOf(session), VariablesOf(module, state),
                      kRoundings);
}

TEST(MicroBatchTraining, APipelineTrainsAsEvalDoes) {
  for (const int devices : {1, 2, 4}) {
    for (const int micro_batches : {1, 2, 4, 8}) {
      for (const PipelineSchedule schedule : kSchedules) {
        SCOPED_TRACE(absl::StrCat(devices, " devices, ", micro_batches,
                                  " micro-batches"));
        const auto session = Perceptron(devices, micro_batches, schedule);
        ASSERT_NE(session, nullptr);
        EXPECT_EQ(session->plan().devices.size(), devices);
        ExpectTrainsAsEval(*session);
        // without micro-batches there is no schedule
        if (micro_batches == 1) break;
      }
    }
  }
}

// The losses of four steps, with or without delays.
Numbers Losses(Session& session, std::optional<int> chaos) {
  Numbers losses;
  for (int step = 0; step < 4; ++step) {
    RunOptions options;
    if (chaos.has_value()) options.chaos_seed = *chaos + step;
    const Numbers loss =
        LossOf(session, PerceptronBatch(kSizes, step), options);
    losses.insert(losses.end(), loss.begin(), loss.end());
  }
  return losses;
}

TEST(MicroBatchTraining, SchedulesStagesAndDelaysChangeNoBit) {
  const auto one = Perceptron(1, 4, PipelineSchedule::kOneForwardOneBackward);
  ASSERT_NE(one, nullptr);
  const Numbers expected = Losses(*one, std::nullopt);
  ASSERT_EQ(expected.size(), 4u);
  for (const int devices : {1, 2, 4}) {
    for (const PipelineSchedule schedule : kSchedules) {
      const auto session = Perceptron(devices, 4, schedule);
      ASSERT_NE(session, nullptr);
      EXPECT_EQ(Losses(*session, 7), expected) << devices;
      ExpectSameBits(*session, *one);
    }
  }
}

std::unique_ptr<Session> InPartsOf(const absl::StatusOr<Module>& module,
                                   int devices, int micro_batches) {
  EXPECT_TRUE(module.ok()) << module.status();
  return TrainingSession(module->Clone(), EqualCpus(devices, kTrainingMemory),
                         InParts(devices, micro_batches,
                                 PipelineSchedule::kOneForwardOneBackward));
}

// Of four steps, with inputs up to `high`.
Numbers CheckedLosses(Session& session, double high) {
  Numbers losses;
  for (int step = 0; step < 4; ++step) {
    std::vector<HostTensor> inputs;
    for (int i = 0; i < session.num_inputs(); ++i) {
      inputs.push_back(RandomTensor(session.input_type(i),
                                    10 * (step % 2) + i + 1, 0, high));
    }
    const Numbers loss = CheckedStep(session, step, inputs);
    losses.insert(losses.end(), loss.begin(), loss.end());
  }
  return losses;
}

CompileOptions OfReplicas(int replicas, int micro_batches) {
  CompileOptions options;
  options.strategy = "data";
  options.planner.replicas = replicas;
  options.micro_batches = micro_batches;
  return options;
}

std::unique_ptr<Session> Replicas(const absl::StatusOr<Module>& module,
                                  const CompileOptions& options) {
  EXPECT_TRUE(module.ok()) << module.status();
  return TrainingSession(
      module->Clone(),
      EqualCpus(static_cast<int>(*options.planner.replicas), kTrainingMemory),
      options);
}

// With micro-batches over one device and over two stages: as with the whole
// batch except for rounding, and with equal bits. Replicas add gradients in
// another order, and stay equal.
void ExpectTrainsInParts(const absl::StatusOr<Module>& module, double high,
                         double roundings) {
  const auto whole = InPartsOf(module, 1, 1);
  const auto parts = InPartsOf(module, 1, 2);
  const auto stages = InPartsOf(module, 2, 2);
  ASSERT_NE(whole, nullptr);
  ASSERT_NE(parts, nullptr);
  ASSERT_NE(stages, nullptr);
  const Numbers expected = CheckedLosses(*whole, high);
  ASSERT_EQ(expected.size(), 4u);
  const Numbers found = CheckedLosses(*parts, high);
  EXPECT_LE(RoundingsApart(found, expected), roundings);
  ExpectSameVariables(VariablesOf(*parts), VariablesOf(*whole), roundings);
  EXPECT_EQ(CheckedLosses(*stages, high), found);
  ExpectSameBits(*stages, *parts);
  const auto replicas = Replicas(module, OfReplicas(2, 2));
  ASSERT_NE(replicas, nullptr);
  EXPECT_LE(RoundingsApart(CheckedLosses(*replicas, high), expected),
            roundings);
  ExpectSameVariables(VariablesOf(*replicas), VariablesOf(*whole), roundings);
  ExpectEqualReplicas(*replicas, 2);
}

// Convolutions, pools and dropout.
TEST(MicroBatchTraining, ReplicasTrainAsADeviceDoesWithTheWholeBatch) {
  for (const int micro_batches : {2, 4}) {
    SCOPED_TRACE(absl::StrCat(micro_batches, " micro-batches"));
    const auto session =
        Replicas(MnistModule(0.2), OfReplicas(2, micro_batches));
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsEvalDoes(*session);
    ExpectEqualReplicas(*session, 2);
  }
}

TEST(MicroBatchTraining, ReplicasTakeUnevenShardsOfEachMicroBatch) {
  for (const auto& [replicas, micro_batches] :
       {std::pair{2, 1}, {3, 2}, {3, 4}, {4, 8}, {2, 16}}) {
    SCOPED_TRACE(absl::StrCat(replicas, " replicas, ", micro_batches,
                              " micro-batches of ", 16 / micro_batches));
    const auto session = Replicas(PerceptronTraining(kSizes),
                                  OfReplicas(replicas, micro_batches));
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsEval(*session);
    ExpectEqualReplicas(*session, std::min(replicas, 16 / micro_batches));
  }
}

// One bucket of whole sums, and the loss; no other collective.
TEST(MicroBatchTraining, ReplicasAllReduceOnceAStep) {
  const auto collectives = [](int micro_batches) {
    const auto session =
        Replicas(PerceptronTraining(kSizes), OfReplicas(2, micro_batches));
    const Entry& entry = session->plan().entries[0];
    int count = 0;
    for (const Invocation& invocation : entry.schedule) {
      count +=
          absl::c_count_if(entry.programs[invocation.program.index].commands,
                           [](const Command& command) {
                             return command.kind == Command::Kind::kCollective;
                           });
    }
    return count;
  };
  EXPECT_EQ(collectives(8), collectives(1));
}

// GPUs have streams for collectives beside those of their kernels. Schedules,
// the strategy that is found, and overlapping steps work as usual.
TEST(MicroBatchTraining, ReplicasGoByAnyScheduleOnAnyDevices) {
  CompileOptions gpipe = OfReplicas(2, 4);
  gpipe.schedule = PipelineSchedule::kGPipe;
  CompileOptions overlapping = OfReplicas(2, 4);
  overlapping.depth = 2;
  CompileOptions found;
  found.micro_batches = 4;
  for (const CompileOptions& options :
       {OfReplicas(2, 4), gpipe, overlapping, found}) {
    for (const Machine& machine :
         {EqualCpus(2, kTrainingMemory), CpuAndGpus(2, kTrainingMemory)}) {
      SCOPED_TRACE(absl::StrCat(machine.devices[0].traits.name, ", strategy ",
                                options.strategy, ", depth ", options.depth));
      const auto session =
          TrainingSession(PerceptronTraining(kSizes), machine, options);
      ASSERT_NE(session, nullptr);
      ExpectTrainsAsEval(*session);
    }
  }
}

// A layer that a pin puts on one device, or shards differently, needs a
// transfer in each micro-batch.
TEST(MicroBatchTraining, ReplicasTransferAtPins) {
  for (const Pin& pin :
       {Pin{"layer1*", {"cpu:1"}}, Pin{"layer1*", {"cpu:0", "cpu:1"}, 1},
        Pin{"layer1*", {"cpu:0", "cpu:1"}, 0}}) {
    SCOPED_TRACE(
        absl::StrCat(pin.devices.size(), " devices, dimension ", pin.dim));
    CompileOptions options = OfReplicas(2, 4);
    options.pins = {pin};
    const auto session = Replicas(PerceptronTraining(kSizes), options);
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsEval(*session);
  }
}

// Neither delays nor sharded updates change a bit.
TEST(MicroBatchTraining, DelaysAndShardedUpdatesChangeNoBitOfReplicas) {
  const auto replicas = Replicas(PerceptronTraining(kSizes), OfReplicas(2, 4));
  ASSERT_NE(replicas, nullptr);
  const Numbers expected = Losses(*replicas, std::nullopt);
  CompileOptions options = OfReplicas(2, 4);
  options.planner.sharded_update_bytes = 0;
  const auto sharded = Replicas(PerceptronTraining(kSizes), options);
  ASSERT_NE(sharded, nullptr);
  EXPECT_EQ(Losses(*sharded, 7), expected);
  ExpectSameBits(*sharded, *replicas);
}

// Products of a recurrent network are over all time steps.
TEST(MicroBatchTraining, ARecurrentNetworkTrainsAsWithTheWholeBatch) {
  ExpectTrainsInParts(
      LstmTraining({.batch = 4, .width = 16, .context = 6, .vocabulary = 16}),
      15, kRoundings);
}

TEST(MicroBatchTraining, AttentionAndDropoutTrainAsWithTheWholeBatch) {
  ExpectTrainsInParts(
      GptTraining({.batch = 4,
                   .layers = 2,
                   .width = 16,
                   .heads = 2,
                   .context = 8,
                   .vocabulary = 16,
                   .dropout = 0.2,
                   .update = {.optimizer = {.momentum = 0.9},
                              .schedule = {.learning_rate = 0.1}}}),
      15, kRoundings);
}

// As many samples as positions, features and classes.
TEST(MicroBatchTraining, ModelsWhoseExtentsAreAllTheBatchTrainAsWithAWholeOne) {
  ExpectTrainsInParts(
      GptTraining({.batch = 8,
                   .layers = 2,
                   .width = 8,
                   .heads = 2,
                   .context = 8,
                   .vocabulary = 8,
                   .update = {.optimizer = {.momentum = 0.9},
                              .schedule = {.learning_rate = 0.1}}}),
      7, kRoundings);
  ExpectTrainsInParts(
      LstmTraining({.batch = 8, .width = 8, .context = 8, .vocabulary = 8}), 7,
      kRoundings);
}

// Statistics are those of the whole batch, running ones too.
Module NormalizedTraining(int shards) {
  GraphBuilder b("train");
  Tensor x = b.Input("x", DType::kF32, {8, 6});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string name = absl::StrCat("layer", layer);
    const GraphBuilder::Scope scope(b, name);
    const auto variable = [&](const char* of, double value,
                              bool trainable = true) {
      HostTensor first({DType::kF32, {6}, {}});
      for (float& x : first.data<float>()) x = value;
      return b.Variable(name + of, std::move(first), trainable);
    };
    const Tensor w =
        b.Variable(name + ".weight", HeWeights({6, 6}, 6, 7 + layer));
    variable(".mean", 0, false);
    variable(".variance", 1, false);
    x = BatchNormTraining(MatMul(x, w), variable(".scale", 1),
                          variable(".bias", 0), name + ".mean",
                          name + ".variance", {.shards = shards});
    x = Tanh(x);
  }
  const Tensor loss = MseLoss(x, b.Input("target", DType::kF32, {8, 6}));
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.1), {.momentum = 0.9});
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

TEST(MicroBatchTraining, BatchNormsHaveTheStatisticsOfTheWholeBatch) {
  ExpectTrainsInParts(NormalizedTraining(/*shards=*/1), 1, 3 * kRoundings);
}

// Running statistics are those of the first shard, which is not a sum over all.
TEST(MicroBatchTraining, BatchNormsOfShardsAreRefused) {
  for (const int devices : {1, 2}) {
    const auto compiled = Compile(
        NormalizedTraining(/*shards=*/2), EqualCpus(devices, kTrainingMemory),
        InParts(devices, 2, PipelineSchedule::kOneForwardOneBackward));
    EXPECT_TRUE(absl::StartsWith(
        compiled.status().message(),
        "micro-batches of @train: found results that need the whole batch at "
        "once; expected independent examples, and sums over them; leave "
        "out micro-batches, or write it as a sum:\n  slice "))
        << compiled.status();
  }
}

// Its text has commands once for each form of a program, not for each
// micro-batch.
TEST(MicroBatchTraining, APlanGrowsLessThanItsMicroBatches) {
  const auto commands = [](int micro_batches) {
    const auto session =
        Perceptron(2, micro_batches, PipelineSchedule::kOneForwardOneBackward);
    size_t count = 0;
    for (const Program& program : session->plan().entries[0].programs) {
      count += program.commands.size();
    }
    return count;
  };
  EXPECT_LT(commands(16), 2 * commands(8));
}

TEST(MicroBatchTraining, WhatDoesNotDivideTheBatchIsRefused) {
  const auto compiled = Compile(MnistModule(0), EqualCpus(1, kTrainingMemory),
                                InParts(1, 3, PipelineSchedule::kGPipe));
  EXPECT_EQ(compiled.status().message(),
            "micro-batches of @train: found 3 for a batch of 8, the first "
            "extent of images f32[8, 1, 28, 28] and labels i64[8]; expected a "
            "divisor of the batch; take 2 or 4, or name the inputs that hold "
            "the samples by --batch-input");
}

}  // namespace
}  // namespace partita
