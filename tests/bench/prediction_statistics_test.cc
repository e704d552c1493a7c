// Tests of the statistics of predictions.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/prediction_statistics.h"

#include <vector>

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(PredictionStatisticsTest, ErrorsAreRelativeToTheMeasured) {
  const std::vector<PredictedSeconds> pairs = {{1.1, 1}, {1, 2}, {3, 3}};
  const PredictionErrors errors = ErrorsOf(pairs);
  EXPECT_NEAR(errors.mean, (0.1 + 0.5 + 0) / 3, 1e-12);
  EXPECT_NEAR(errors.worst, 0.5, 1e-12);
}

TEST(PredictionStatisticsTest, SpearmanReadsRanksOnly) {
  const std::vector<PredictedSeconds> rising = {{1, 1}, {2, 100}, {3, 101}};
  EXPECT_NEAR(ErrorsOf(rising).spearman, 1, 1e-12);
  const std::vector<PredictedSeconds> falling = {{3, 1}, {2, 2}, {1, 50}};
  EXPECT_NEAR(ErrorsOf(falling).spearman, -1, 1e-12);
  // One swap among four: 1 - 6 * 2 / (4 * 15).
  const std::vector<PredictedSeconds> swapped = {
      {1, 1}, {2, 2}, {4, 3}, {3, 4}};
  EXPECT_NEAR(ErrorsOf(swapped).spearman, 0.8, 1e-12);
}

TEST(PredictionStatisticsTest, EqualValuesShareARank) {
  const std::vector<PredictedSeconds> pairs = {{1, 1}, {1, 2}, {2, 3}};
  EXPECT_NEAR(ErrorsOf(pairs).spearman, 0.8660254037844386, 1e-12);
  const std::vector<PredictedSeconds> equal = {{1, 1}, {1, 2}};
  EXPECT_EQ(ErrorsOf(equal).spearman, 0);
}

}  // namespace
}  // namespace partita
