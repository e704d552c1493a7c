// Tests of the compilations of the scale benchmark, on smaller ones.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/scale.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace partita {
namespace {

std::string Cell(const RowCells& row, const std::string& column) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (kScaleColumns[i] == column) return row[i];
  }
  ADD_FAILURE() << "no column " << column;
  return "";
}

double Number(const RowCells& row, const std::string& column) {
  double number = -1;
  EXPECT_TRUE(absl::SimpleAtod(Cell(row, column), &number))
      << column << ": " << Cell(row, column);
  return number;
}

TEST(Scale, KeysDiffer) {
  std::set<std::string> keys;
  for (const ScaleCase& scale_case : ScaleCases()) {
    EXPECT_TRUE(keys.insert(scale_case.key()).second) << scale_case.key();
  }
  EXPECT_TRUE(keys.contains("inference/list/106656_nodes/8_cpus"));
  EXPECT_TRUE(
      keys.contains("training/pipeline/7208_nodes/8_cpus/16_micro_batches"));
  EXPECT_TRUE(keys.contains("training/auto/1056_nodes/8_gpus"));
}

// Three compilations, of CPUs and of GPUs.
TEST(Scale, RowsHaveTheirFigures) {
  const ScaleCase cases[] = {
      {.strategy = "list", .nodes = 64, .devices = 2},
      {.model = ScaleModel::kTraining,
       .strategy = "data",
       .nodes = 64,
       .devices = 2,
       .kind = ScaleDevices::kGpus},
      {.strategy = "pipeline",
       .nodes = 64,
       .devices = 2,
       .micro_batches = 3,
       .is_simulated = true},
  };
  for (const ScaleCase& scale_case : cases) {
    const RowCells row = ScaleRow(scale_case);
    ASSERT_EQ(row.size(), kScaleColumns.size());
    EXPECT_EQ(Cell(row, "failure"), "") << scale_case.key();
    EXPECT_GE(Number(row, "nodes"), 64);
    EXPECT_GT(Number(row, "commands"), 0);
    EXPECT_GE(Number(row, "compile s"), 0);
    EXPECT_GT(Number(row, "peak MiB"), 0);
    EXPECT_EQ(Cell(row, "simulate s").empty(), !scale_case.is_simulated);
    EXPECT_EQ(Cell(row, "prove s").empty(), !scale_case.is_simulated);
  }
}

TEST(Scale, AFailureIsARow) {
  const RowCells row =
      ScaleRow({.strategy = "none", .nodes = 64, .devices = 2});
  EXPECT_TRUE(absl::StrContains(Cell(row, "failure"), "none"))
      << Cell(row, "failure");
  EXPECT_EQ(Cell(row, "compile s"), "");
  EXPECT_EQ(Cell(row, "nodes"), "64");
}

}  // namespace
}  // namespace partita
