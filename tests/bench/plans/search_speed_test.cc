// Tests of the rows of the search's speed, on small graphs.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/search_speed.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"

namespace partita {
namespace {

double Number(const RowCells& row, const std::string& column) {
  double number = -1;
  const auto at = absl::c_find(kSpeedColumns, column) - kSpeedColumns.begin();
  EXPECT_TRUE(absl::SimpleAtod(row.at(at), &number)) << column;
  return number;
}

TEST(SearchSpeed, KeysDiffer) {
  std::set<std::string> keys;
  for (const SpeedCase& speed_case : SpeedCases()) {
    EXPECT_TRUE(keys.insert(speed_case.key()).second) << speed_case.key();
  }
  EXPECT_TRUE(keys.contains("random/10_nodes/2_cpus"));
  EXPECT_TRUE(keys.contains("layers/1000_nodes/8_cpus"));
}

TEST(SearchSpeed, RowsHaveTheirFigures) {
  for (const SpeedCase& speed_case :
       {SpeedCase{SpeedModel::kRandom, 10, 2},
        SpeedCase{SpeedModel::kLayers, 40, 3},
        SpeedCase{SpeedModel::kTraining, 40, 2}}) {
    const absl::StatusOr<RowCells> row =
        SpeedRow(speed_case, /*least_seconds=*/0);
    ASSERT_TRUE(row.ok()) << row.status();
    ASSERT_EQ(row->size(), kSpeedColumns.size());
    if (speed_case.model == SpeedModel::kRandom) {
      EXPECT_EQ(Number(*row, "computing nodes"), 10);
    }
    EXPECT_EQ(Number(*row, "devices"), speed_case.devices);
    EXPECT_EQ(Number(*row, "rounds"), 1);
    EXPECT_GT(Number(*row, "evaluations"), 1);
    EXPECT_GT(Number(*row, "evaluations/s"), 0);
  }
}

}  // namespace
}  // namespace partita
