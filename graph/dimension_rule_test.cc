// Tests of splits along factors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dimension_rule.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

Sharding Split(int dim, int64_t unit = 1) {
  return {.kind = Sharding::Kind::kSplit, .dim = dim, .unit = unit};
}

// The rule of a reshape of [samples, 4, 3] to [samples * 4, 3].
DimensionRule Merging(int64_t samples) {
  DimensionRule rule;
  rule.factors = {{.name = "samples", .size = samples},
                  {.name = "tokens", .size = 4},
                  {.name = "width", .size = 3}};
  rule.operands = {{{0}, {1}, {2}}};
  rule.results = {{{0, 1}, {2}}};
  return rule;
}

TEST(RankInterval, IntervalsAreWholeUnitsAndMakeUpTheExtent) {
  for (int64_t unit : {1, 2, 5}) {
    for (int64_t units : {0, 1, 3, 4, 7}) {
      for (int ranks : {1, 2, 3, 4}) {
        int64_t end = 0;
        for (int m = 0; m < ranks; ++m) {
          const Interval interval = RankInterval(units * unit, unit, m, ranks);
          EXPECT_EQ(interval.begin, end);
          EXPECT_EQ(interval.size() % unit, 0);
          EXPECT_LE(interval.size(), (units + ranks - 1) / ranks * unit);
          end = interval.end;
        }
        EXPECT_EQ(end, units * unit);
      }
    }
  }
}

TEST(DimensionRule, AMergedDimensionIsSplitInUnits) {
  const DimensionRule rule = Merging(5);
  const auto sharding = FactorShardingOf(rule, rule.operands[0], Split(0), 2);
  ASSERT_TRUE(sharding.has_value());
  EXPECT_EQ(sharding->factor, 0);
  EXPECT_EQ(sharding->unit, 1);
  EXPECT_EQ(ShardingUnder(rule, rule.operands[0], *sharding, 2), Split(0));
  EXPECT_EQ(ShardingUnder(rule, rule.results[0], *sharding, 2), Split(0, 4));
  const auto back = FactorShardingOf(rule, rule.results[0], Split(0, 4), 2);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->factor, 0);
  EXPECT_EQ(back->unit, 1);
}

// True if the intervals of all ranks match, compared one by one.
bool AllIntervalsMatch(int64_t factor, int64_t inner, int64_t unit, int ranks) {
  const int64_t own_unit = unit % inner == 0 ? unit / inner : 1;
  for (int m = 0; m < ranks; ++m) {
    const Interval of_factor = RankInterval(factor, own_unit, m, ranks);
    const Interval of_value = RankInterval(factor * inner, unit, m, ranks);
    if (of_value != Interval{of_factor.begin * inner, of_factor.end * inner}) {
      return false;
    }
  }
  return true;
}

TEST(DimensionRule, AFactorMatchesADimensionIfAllIntervalsDo) {
  for (int64_t size = 0; size <= 13; ++size) {
    for (int64_t inner = 1; inner <= 6; ++inner) {
      DimensionRule rule;
      rule.factors = {{.name = "samples", .size = size},
                      {.name = "tokens", .size = inner}};
      for (int64_t unit = 1; unit <= 12; ++unit) {
        for (int ranks = 1; ranks <= 7; ++ranks) {
          const auto sharding =
              FactorShardingOf(rule, {{0, 1}}, Split(0, unit), ranks);
          ASSERT_EQ(sharding.has_value(),
                    AllIntervalsMatch(size, inner, unit, ranks))
              << size << " * " << inner << " in units of " << unit << " over "
              << ranks << " ranks";
        }
      }
    }
  }
}

TEST(DimensionRule, UnitsMultiply) {
  const DimensionRule rule = Merging(6);
  const auto sharding =
      FactorShardingOf(rule, rule.operands[0], Split(0, 2), 2);
  ASSERT_TRUE(sharding.has_value());
  EXPECT_EQ(ShardingUnder(rule, rule.operands[0], *sharding, 2), Split(0, 2));
  EXPECT_EQ(ShardingUnder(rule, rule.results[0], *sharding, 2), Split(0, 8));
  const auto back = FactorShardingOf(rule, rule.results[0], Split(0, 8), 2);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->unit, 2);
}

TEST(DimensionRule, AnEvenSplitHasNoUnit) {
  const DimensionRule rule = Merging(6);
  for (int ranks : {2, 3}) {
    const auto sharding =
        FactorShardingOf(rule, rule.operands[0], Split(0), ranks);
    ASSERT_TRUE(sharding.has_value());
    EXPECT_EQ(ShardingUnder(rule, rule.results[0], *sharding, ranks), Split(0));
    EXPECT_TRUE(
        FactorShardingOf(rule, rule.results[0], Split(0), ranks).has_value());
  }
}

// 20 rows split in the middle of the third of five samples, or by half samples.
TEST(DimensionRule, OtherSplitsAreNoSplitsOfTheFactor) {
  const DimensionRule rule = Merging(5);
  EXPECT_FALSE(
      FactorShardingOf(rule, rule.results[0], Split(0), 2).has_value());
  EXPECT_FALSE(
      FactorShardingOf(rule, rule.results[0], Split(0, 2), 3).has_value());
  EXPECT_FALSE(
      FactorShardingOf(rule, rule.results[0], Split(2), 2).has_value());
  EXPECT_FALSE(
      FactorShardingOf(rule, rule.results[0], Sharding(), 2).has_value());
}

TEST(DimensionRule, ResultsGoBeforeOperands) {
  const DimensionRule rule = Merging(5);
  Placement placement{.devices = {"gpu:0", "gpu:1"},
                      .operands = {Split(1)},
                      .results = {Split(0, 4)}};
  EXPECT_EQ(FactorShardingOfNode(rule, placement)->factor, 0);
  placement.results.clear();
  EXPECT_EQ(FactorShardingOfNode(rule, placement)->factor, 1);
  placement.operands.clear();
  EXPECT_FALSE(FactorShardingOfNode(rule, placement).has_value());
}

}  // namespace
}  // namespace partita
