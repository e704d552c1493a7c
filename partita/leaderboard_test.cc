// The leaderboard of a small model.
// SPDX-License-Identifier: Apache-2.0

#include "partita/leaderboard.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int64_t kRoom = int64_t{1} << 30;

Module Mlp() {
  absl::StatusOr<Module> module = ParseModule(R"(
graph @mlp(%x: f32[64, 256], %w: f32[256, 256]) -> f32[64, 256] {
  %a = matmul %x, %w : f32[64, 256]
  %h = relu %a       : f32[64, 256]
  %y = matmul %h, %w : f32[64, 256]
  return %y
}
)",
                                              "mlp.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

const LeaderboardRow& Row(const Leaderboard& board,
                          const std::string& strategy) {
  for (const LeaderboardRow& row : board.rows) {
    if (row.strategy == strategy) return row;
  }
  ADD_FAILURE() << "no row " << strategy;
  return board.rows.front();
}

TEST(LeaderboardTest, EveryStrategyAndAutoHaveARowTheBestFirst) {
  const auto board = CompareStrategies(Mlp(), EqualCpus(2, kRoom));
  ASSERT_TRUE(board.ok()) << board.status();
  std::vector<std::string> strategies;
  double before = 0;
  for (const LeaderboardRow& row : board->rows) {
    strategies.push_back(row.strategy);
    EXPECT_EQ(row.refusal, "") << row.strategy;
    EXPECT_LE(before, row.latency_seconds);
    before = row.latency_seconds;
    EXPECT_GT(row.bound_seconds, 0);
    EXPECT_LE(row.bound_seconds, row.step_seconds);
    EXPECT_FALSE(row.bound_by.empty());
    EXPECT_EQ(row.peak_bytes.size(), 2u);
    EXPECT_GE(row.bubble, 0);
    EXPECT_LT(row.bubble, 1);
    EXPECT_GT(row.planning_seconds, 0);
  }
  EXPECT_THAT(strategies, UnorderedElementsAre("single", "data", "pipeline",
                                               "list", "search", "auto"));
  const LeaderboardRow& best = Row(*board, "auto");
  EXPECT_EQ(best.step_seconds, board->rows[0].step_seconds);
  EXPECT_EQ(best.step_seconds, Row(*board, best.chosen).step_seconds);
}

TEST(LeaderboardTest, ARowHasTheFiguresOfTheStrategysPlan) {
  const Machine machine = EqualCpus(2, kRoom);
  const auto board = CompareStrategies(Mlp(), machine);
  ASSERT_TRUE(board.ok()) << board.status();
  const auto compiled = Predict(Mlp(), machine, {.strategy = "data"});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const LeaderboardRow& row = Row(*board, "data");
  const EntryReport& entry = compiled->report.entries[0];
  EXPECT_EQ(row.step_seconds, entry.step_seconds);
  EXPECT_EQ(row.bound_seconds, entry.bound_seconds);
  EXPECT_EQ(row.bound_by, entry.bound_by);
  EXPECT_EQ(row.moved_bytes, entry.copied_bytes + entry.collective_bytes);
  EXPECT_GT(row.moved_bytes, 0);
  EXPECT_EQ(row.peak_bytes[1], compiled->report.devices[1].arena);
  const double busy =
      entry.devices[0].busy_seconds + entry.devices[1].busy_seconds;
  EXPECT_DOUBLE_EQ(row.bubble, 1 - busy / (2 * entry.step_seconds));
}

TEST(LeaderboardTest, ADeviceThatThePlanDoesNotUseHasNoPeakAndNoBubble) {
  const auto board = CompareStrategies(Mlp(), CpuAndGpus(1, kRoom));
  ASSERT_TRUE(board.ok()) << board.status();
  const LeaderboardRow& row = Row(*board, "single");
  EXPECT_EQ(row.peak_bytes[0], 0);  // cpu:0
  EXPECT_GT(row.peak_bytes[1], 0);
  EXPECT_EQ(row.moved_bytes, 0);
}

// A replica of the weight does not fit a GPU; the CPU has room.
TEST(LeaderboardTest, AStrategyThatMakesNoPlanComesLastWithItsReason) {
  const auto board = CompareStrategies(Mlp(), CpuAndGpus(2, 1 << 16));
  ASSERT_TRUE(board.ok()) << board.status();
  EXPECT_EQ(board->rows.front().refusal, "");
  const LeaderboardRow& last = board->rows.back();
  EXPECT_EQ(last.strategy, "data");
  EXPECT_THAT(last.refusal, HasSubstr("needed on gpu:"));
  EXPECT_EQ(last.refusal.find('\n'), std::string::npos);
  EXPECT_EQ(last.step_seconds, 0);
}

TEST(LeaderboardTest, IfNothingFitsEveryRowHasAReasonInOneLine) {
  const auto board = CompareStrategies(Mlp(), EqualCpus(1, 1 << 16));
  ASSERT_TRUE(board.ok()) << board.status();
  for (const LeaderboardRow& row : board->rows) {
    EXPECT_NE(row.refusal, "") << row.strategy;
    EXPECT_EQ(row.refusal.find('\n'), std::string::npos) << row.refusal;
  }
  EXPECT_THAT(Row(*board, "single").refusal, HasSubstr("needed on cpu:0"));
}

TEST(LeaderboardTest, AnOptionOutOfRangeIsAnError) {
  CompileOptions options;
  options.depth = 0;
  EXPECT_EQ(
      CompareStrategies(Mlp(), EqualCpus(1, kRoom), options).status().code(),
      absl::StatusCode::kInvalidArgument);
}

// As Compile says it, and not as a row of each strategy.
TEST(LeaderboardTest, AConstraintOnNoNodeIsAnError) {
  CompileOptions options;
  options.planner.constraints = {{Constraint::Kind::kTogether, {"a", "nose"}}};
  EXPECT_THAT(
      CompareStrategies(Mlp(), EqualCpus(2, kRoom), options).status().message(),
      HasSubstr("together a,nose: found no node"));
}

}  // namespace
}  // namespace partita
