// A log's report for given steps.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace partita {
namespace {

// Of an epoch of these steps, each with 8 samples.
TrainReport Logged(const std::vector<TrainingStep>& steps) {
  TrainReport report = {.epochs = 1,
                        .steps_per_epoch = static_cast<int64_t>(steps.size())};
  Progress progress("train");
  TrainLog log({}, progress, report);
  for (TrainingStep step : steps) {
    step.samples = 8;
    EXPECT_TRUE(log.OnStep(step).ok());
  }
  EXPECT_TRUE(log.OnEpoch(0).ok());
  return report;
}

TEST(TrainLog, AnEpochsLossIsTheMeanOverTheLabelsThatAreKnown) {
  const TrainReport report =
      Logged({{.loss = 1, .labels = 8}, {.loss = 5, .labels = 2}});
  ASSERT_EQ(report.finished.size(), 1u);
  EXPECT_EQ(report.finished[0].trained.samples, 16);
  EXPECT_DOUBLE_EQ(report.finished[0].trained.loss(), 1.8);
  EXPECT_DOUBLE_EQ(report.trained.loss(), 1.8);
}

TEST(TrainLog, AStepWithoutAFiniteLossDoesNotCount) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const TrainReport report = Logged({{.loss = 1, .labels = 8},
                                     {.loss = kNan, .labels = 0},
                                     {.loss = 3, .labels = 8},
                                     {.loss = kInfinity, .labels = 8}});
  const TrainedSpan& epoch = report.finished.at(0).trained;
  EXPECT_DOUBLE_EQ(epoch.loss(), 2);
  EXPECT_EQ(epoch.num_nan, 2);
  EXPECT_EQ(epoch.steps, 4);
  EXPECT_EQ(epoch.samples, 32);
}

TEST(TrainLog, WithoutAFiniteLossThereIsNoMean) {
  const TrainReport report = Logged({{.loss = NAN, .labels = 8}});
  EXPECT_TRUE(std::isnan(report.finished.at(0).trained.loss()));
}

}  // namespace
}  // namespace partita
