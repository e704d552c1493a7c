// Pipelines of micro-batches: their savings of time and memory.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/pipeline_steps.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr PipelineSchedule k1F1B = PipelineSchedule::kOneForwardOneBackward;
constexpr PipelineSchedule kGPipe = PipelineSchedule::kGPipe;

CompileOptions InStages(int stages, int micro_batches,
                        PipelineSchedule schedule = k1F1B) {
  CompileOptions options;
  options.strategy = stages == 1 ? "single" : "pipeline";
  if (stages > 1) options.planner.stages = stages;
  options.micro_batches = micro_batches;
  if (micro_batches > 1) options.schedule = schedule;
  return options;
}

absl::StatusOr<Compiled> CompileOn(int devices, int64_t memory,
                                   const PerceptronSizes& sizes,
                                   const CompileOptions& options) {
  return Compile(PerceptronTraining(sizes), EqualCpus(devices, memory),
                 options);
}

// The first of four stages keeps the activations of four micro-batches, not of
// eight.
TEST(PipelineTraining, OneForwardOneBackwardTakesLessMemory) {
  const PerceptronSizes sizes = {.layers = 8, .width = 64, .batch = 2048};
  std::vector<int64_t> arenas[2];
  for (const PipelineSchedule schedule : {k1F1B, kGPipe}) {
    const auto compiled =
        CompileOn(4, kTrainingMemory, sizes, InStages(4, 8, schedule));
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    for (const DeviceMemoryUse& device : compiled->report.devices) {
      arenas[schedule == kGPipe].push_back(device.arena - device.persistent);
    }
  }
  for (int stage = 0; stage < 4; ++stage) {
    SCOPED_TRACE(absl::StrCat("stage ", stage));
    const double part = static_cast<double>(arenas[0][stage]) /
                        static_cast<double>(arenas[1][stage]);
    EXPECT_LT(part, (4.0 - stage) / 8 + 0.3);
  }
  EXPECT_LT(arenas[0][3] * 2, arenas[1][3]);
}

// Micro-batches alone take less memory than the batch.
TEST(PipelineTraining, MicroBatchesOnOneDeviceTakeLessMemory) {
  const PerceptronSizes sizes = {.layers = 8, .width = 32, .batch = 2048};
  const auto arena = [&](int micro_batches) {
    const auto compiled =
        CompileOn(1, kTrainingMemory, sizes, InStages(1, micro_batches));
    EXPECT_TRUE(compiled.ok()) << compiled.status();
    return compiled.ok() ? compiled->report.devices[0].arena : 0;
  };
  EXPECT_LT(arena(8) * 4, arena(1));
}

std::unique_ptr<Session> Training(int devices, int64_t memory,
                                  const PerceptronSizes& sizes,
                                  const CompileOptions& options) {
  return TrainingSession(PerceptronTraining(sizes), EqualCpus(devices, memory),
                         options);
}

// Of two hundred steps.
Numbers Losses(Session& session, const PerceptronSizes& sizes) {
  Numbers losses;
  for (int step = 0; step < 200; ++step) {
    const Numbers loss = LossOf(session, PerceptronBatch(sizes, step), {});
    losses.insert(losses.end(), loss.begin(), loss.end());
  }
  return losses;
}

// The largest distance of any variable, in roundings.
double VariablesApart(Session& found, Session& expected) {
  const NamedNumbers there = VariablesOf(expected);
  double apart = 0;
  for (const auto& [name, values] : VariablesOf(found)) {
    apart = std::max(apart, RoundingsApart(values, there.at(name)));
  }
  return apart;
}

// The single device starts each step from the stages' variables. Otherwise the
// two could diverge after some hundred steps: an input of relu that is zero
// except for rounding takes another sign, and gradients jump. Losses do not,
// nor do the variables of most steps.
void ExpectTrainsAsOneDeviceDoes(Session& stages, Session& one,
                                 const PerceptronSizes& sizes) {
  constexpr int kSteps = 100;
  Numbers losses, expected;
  int leaps = 0;
  for (int step = 0; step < kSteps; ++step) {
    CopyVariables(stages, one);
    const auto batch = PerceptronBatch(sizes, step);
    losses.push_back(LossOf(stages, batch, {}).at(0));
    expected.push_back(LossOf(one, batch, {}).at(0));
    leaps += VariablesApart(stages, one) > 20 ? 1 : 0;
  }
  // Both bounds are about ten times the observed distances.
  EXPECT_LE(RoundingsApart(losses, expected), 10);
  EXPECT_LE(leaps, kSteps / 10);
  EXPECT_LT(losses.back(), losses.front() / 2);  // it learns
}

TEST(PipelineTraining, AModelThatDoesNotFitOneDeviceIsTrainedOnSeveral) {
  const PerceptronSizes sizes = {.layers = 8, .width = 64, .batch = 64};
  constexpr int64_t kSmall = 352 * 1024;
  const auto refused = CompileOn(1, kSmall, sizes, InStages(1, 4));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(absl::StrContains(refused.status().message(),
                                "expected at most 352.0 KiB"))
      << refused.status();
  const auto large = Training(1, kTrainingMemory, sizes, InStages(1, 1));
  ASSERT_NE(large, nullptr);
  for (const int devices : {2, 4}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices"));
    const auto session = Training(devices, kSmall, sizes, InStages(devices, 4));
    ASSERT_NE(session, nullptr);
    ExpectTrainsAsOneDeviceDoes(*session, *large, sizes);
  }
}

// Sums over micro-batches are in their order, whatever the schedule and the
// stages: two hundred steps have the bits of one device's.
TEST(PipelineTraining, SchedulesOverManyStepsChangeNoBit) {
  const PerceptronSizes sizes = {.layers = 4, .width = 32, .batch = 32};
  const auto one = Training(1, kTrainingMemory, sizes, InStages(1, 4));
  ASSERT_NE(one, nullptr);
  const Numbers expected = Losses(*one, sizes);
  ASSERT_EQ(expected.size(), 200u);
  EXPECT_LT(expected.back(), expected.front() / 2);
  for (const PipelineSchedule schedule : {kGPipe, k1F1B}) {
    const auto stages =
        Training(2, kTrainingMemory, sizes, InStages(2, 4, schedule));
    ASSERT_NE(stages, nullptr);
    EXPECT_EQ(Losses(*stages, sizes), expected);
    ExpectSameBits(*stages, *one);
  }
}

}  // namespace
}  // namespace partita
