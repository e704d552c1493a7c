// The record of given steps.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/training_recorder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace partita {
namespace {

// Of an epoch of these steps, each with 8 samples.
TrainingRecord Recorded(const std::vector<TrainingStep>& steps,
                        const TrainingEvents& events = {}) {
  TrainingRecord record;
  TrainingRecorder recorder({}, events, record);
  for (TrainingStep step : steps) {
    step.samples = 8;
    EXPECT_TRUE(recorder.OnStep(step).ok());
  }
  EXPECT_TRUE(recorder.OnEpoch(0).ok());
  return record;
}

TEST(TrainingRecorder, AnEpochsLossIsTheMeanOverTheLabelsThatAreKnown) {
  const TrainingRecord record =
      Recorded({{.loss = 1, .labels = 8}, {.loss = 5, .labels = 2}});
  ASSERT_EQ(record.finished.size(), 1u);
  EXPECT_EQ(record.finished[0].trained.samples, 16);
  EXPECT_DOUBLE_EQ(record.finished[0].trained.loss(), 1.8);
  EXPECT_DOUBLE_EQ(record.trained.loss(), 1.8);
}

TEST(TrainingRecorder, AStepWithoutAFiniteLossDoesNotCount) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const TrainingRecord record = Recorded({{.loss = 1, .labels = 8},
                                          {.loss = kNan, .labels = 0},
                                          {.loss = 3, .labels = 8},
                                          {.loss = kInfinity, .labels = 8}});
  const TrainedSpan& epoch = record.finished.at(0).trained;
  EXPECT_DOUBLE_EQ(epoch.loss(), 2);
  EXPECT_EQ(epoch.num_nan, 2);
  EXPECT_EQ(epoch.steps, 4);
  EXPECT_EQ(epoch.samples, 32);
}

TEST(TrainingRecorder, WithoutAFiniteLossThereIsNoMean) {
  const TrainingRecord record = Recorded({{.loss = NAN, .labels = 8}});
  EXPECT_TRUE(std::isnan(record.finished.at(0).trained.loss()));
}

TEST(TrainingRecorder, EventsHearOfEachStepAndEpoch) {
  std::vector<double> losses;
  std::vector<int64_t> steps;
  Recorded({{.step = 0, .loss = 1, .labels = 8},
            {.step = 1, .loss = 5, .labels = 8}},
           {.on_step = [&](double loss) { losses.push_back(loss); },
            .on_epoch =
                [&](const EpochRecord& epoch) {
                  steps.push_back(epoch.trained.steps);
                  return absl::OkStatus();
                }});
  EXPECT_EQ(losses, (std::vector<double>{1, 5}));
  EXPECT_EQ(steps, (std::vector<int64_t>{2}));
}

TEST(TrainingRecorder, AnErrorOfAnEventIsTheObservers) {
  TrainingRecord record;
  const TrainingEvents events = {.on_epoch = [](const EpochRecord& epoch) {
    return absl::DataLossError("nobody listens");
  }};
  TrainingRecorder recorder({}, events, record);
  EXPECT_EQ(recorder.OnEpoch(0), absl::DataLossError("nobody listens"));
  EXPECT_EQ(record.finished.size(), 1u);
}

}  // namespace
}  // namespace partita
