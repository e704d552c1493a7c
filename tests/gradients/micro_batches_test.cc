// Training in micro-batches: one step for all of them, on one device or as a
// pipeline.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan.h"
#include "tests/gradients/drawn.h"
#include "tests/gradients/mnist_steps.h"
#include "tests/gradients/pipeline_steps.h"

namespace partita {
namespace {

constexpr PipelineSchedule kSchedules[] = {
    PipelineSchedule::kOneForwardOneBackward, PipelineSchedule::kGPipe};

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

// Convolutions, pools and dropout: what is dropped does not depend on the
// parts.
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

// Four steps: each has the bits of its reference, the loss that eval finds.
void ExpectTrainsAsEval(Session& session) {
  const Module module = PerceptronTraining(kSizes);
  State state(module);
  for (int step = 0; step < 4; ++step) {
    const std::vector<HostTensor> inputs = PerceptronBatch(kSizes, step);
    for (size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(session.SetInput(static_cast<int>(i), inputs[i]).ok());
    }
    const auto reference = session.RunReference();
    ASSERT_TRUE(reference.ok()) << reference.status();
    const Numbers loss = LossOf(session, inputs, {});
    EXPECT_EQ(loss, ToNumbers((*reference)[0])) << "step " << step;
    const Numbers expected = ToNumbers(state.Step(module.main(), inputs));
    ASSERT_EQ(loss.size(), 1u);
    EXPECT_NEAR(loss[0], expected[0], 1e-5);
  }
  for (const Variable& variable : module.variables()) {
    SCOPED_TRACE(variable.name);
    const auto value = session.ReadVariable(variable.name);
    ASSERT_TRUE(value.ok()) << value.status();
    const Numbers found = ToNumbers(*value);
    const Numbers expected = ToNumbers(state[variable.name]);
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-5);
    }
  }
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
        if (micro_batches == 1) break;  // it has no schedule
      }
    }
  }
}

// The loss of each step, then all variables.
std::vector<Numbers> Trained(Session& session, std::optional<int> chaos) {
  std::vector<Numbers> all;
  for (int step = 0; step < 4; ++step) {
    RunOptions options;
    if (chaos.has_value()) options.chaos_seed = *chaos + step;
    all.push_back(LossOf(session, PerceptronBatch(kSizes, step), options));
  }
  for (const Variable& variable : session.plan().module.variables()) {
    const auto value = session.ReadVariable(variable.name);
    EXPECT_TRUE(value.ok()) << value.status();
    all.push_back(ToNumbers(*value));
  }
  return all;
}

TEST(MicroBatchTraining, SchedulesStagesAndDelaysChangeNoBit) {
  const auto one = Perceptron(1, 4, PipelineSchedule::kOneForwardOneBackward);
  ASSERT_NE(one, nullptr);
  const std::vector<Numbers> expected = Trained(*one, std::nullopt);
  for (const int devices : {1, 2, 4}) {
    for (const PipelineSchedule schedule : kSchedules) {
      const auto session = Perceptron(devices, 4, schedule);
      ASSERT_NE(session, nullptr);
      EXPECT_EQ(Trained(*session, 7), expected) << devices;
    }
  }
}

// Four windows of a recurrent network, whose products are over all of its
// times.
std::vector<Numbers> LstmLosses(const CompileOptions& options, int devices) {
  absl::StatusOr<Module> module =
      LstmTraining({.batch = 4, .width = 16, .context = 6, .vocabulary = 16});
  EXPECT_TRUE(module.ok()) << module.status();
  const auto session = TrainingSession(
      *std::move(module), EqualCpus(devices, kTrainingMemory), options);
  std::vector<Numbers> losses;
  if (session == nullptr) return losses;
  std::vector<HostTensor> inputs;
  for (int i = 0; i < session->num_inputs(); ++i) {
    inputs.push_back(RandomTensor(session->input_type(i), i + 1, 0, 15));
  }
  for (int step = 0; step < 4; ++step) {
    losses.push_back(LossOf(*session, inputs, {}));
  }
  return losses;
}

TEST(MicroBatchTraining, ARecurrentNetworkTrainsAsWithTheWholeBatch) {
  const auto expected =
      LstmLosses(InParts(1, 1, PipelineSchedule::kOneForwardOneBackward), 1);
  ASSERT_EQ(expected.size(), 4u);
  EXPECT_LT(expected[3][0], expected[0][0]);
  for (const int devices : {1, 2}) {
    const auto losses = LstmLosses(
        InParts(devices, 2, PipelineSchedule::kOneForwardOneBackward), devices);
    ASSERT_EQ(losses.size(), 4u);
    for (int step = 0; step < 4; ++step) {
      EXPECT_NEAR(losses[step][0], expected[step][0], 1e-5) << step;
    }
  }
}

// Its text has commands once for each form of a turn, not for each micro-batch.
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
            "micro-batches of @train: found 3 for a batch of 8; expected a "
            "divisor of the batch; take 2 or 4");
}

}  // namespace
}  // namespace partita
