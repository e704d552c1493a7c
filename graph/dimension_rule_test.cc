// Tests of cuts along factors.
// SPDX-License-Identifier: Apache-2.0

#include "graph/dimension_rule.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

Sharding Split(int dim, int64_t unit = 1) {
  return {.kind = Sharding::Kind::kSplit, .dim = dim, .unit = unit};
}

// What a reshape of [samples, 4, 3] to [samples * 4, 3] has.
DimensionRule Merging(int64_t samples) {
  DimensionRule rule;
  rule.factors = {{.name = "samples", .size = samples},
                  {.name = "tokens", .size = 4},
                  {.name = "width", .size = 3}};
  rule.operands = {{{0}, {1}, {2}}};
  rule.results = {{{0, 1}, {2}}};
  return rule;
}

TEST(MemberShare, SharesAreWholeUnitsAndMakeUpTheExtent) {
  for (int64_t unit : {1, 2, 5}) {
    for (int64_t units : {0, 1, 3, 4, 7}) {
      for (int members : {1, 2, 3, 4}) {
        int64_t end = 0;
        for (int m = 0; m < members; ++m) {
          const Interval share = MemberShare(units * unit, unit, m, members);
          EXPECT_EQ(share.begin, end);
          EXPECT_EQ(share.size() % unit, 0);
          EXPECT_LE(share.size(), (units + members - 1) / members * unit);
          end = share.end;
        }
        EXPECT_EQ(end, units * unit);
      }
    }
  }
}

TEST(DimensionRule, AMergedDimensionIsCutInUnits) {
  const DimensionRule rule = Merging(5);
  const auto cut = CutAs(rule, rule.operands[0], Split(0), 2);
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->factor, 0);
  EXPECT_EQ(cut->unit, 1);
  EXPECT_EQ(ShardingUnder(rule, rule.operands[0], *cut, 2), Split(0));
  EXPECT_EQ(ShardingUnder(rule, rule.results[0], *cut, 2), Split(0, 4));
  const auto back = CutAs(rule, rule.results[0], Split(0, 4), 2);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->factor, 0);
  EXPECT_EQ(back->unit, 1);
}

TEST(DimensionRule, UnitsMultiply) {
  const DimensionRule rule = Merging(6);
  const auto cut = CutAs(rule, rule.operands[0], Split(0, 2), 2);
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(ShardingUnder(rule, rule.operands[0], *cut, 2), Split(0, 2));
  EXPECT_EQ(ShardingUnder(rule, rule.results[0], *cut, 2), Split(0, 8));
  const auto back = CutAs(rule, rule.results[0], Split(0, 8), 2);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->unit, 2);
}

TEST(DimensionRule, AnEvenCutHasNoUnit) {
  const DimensionRule rule = Merging(6);
  for (int members : {2, 3}) {
    const auto cut = CutAs(rule, rule.operands[0], Split(0), members);
    ASSERT_TRUE(cut.has_value());
    EXPECT_EQ(ShardingUnder(rule, rule.results[0], *cut, members), Split(0));
    EXPECT_TRUE(CutAs(rule, rule.results[0], Split(0), members).has_value());
  }
}

// 20 rows cut in the middle of the third of five samples, or by half samples.
TEST(DimensionRule, PiecesThatAreNoneOfTheFactorAreNoCut) {
  const DimensionRule rule = Merging(5);
  EXPECT_FALSE(CutAs(rule, rule.results[0], Split(0), 2).has_value());
  EXPECT_FALSE(CutAs(rule, rule.results[0], Split(0, 2), 3).has_value());
  EXPECT_FALSE(CutAs(rule, rule.results[0], Split(2), 2).has_value());
  EXPECT_FALSE(CutAs(rule, rule.results[0], Sharding(), 2).has_value());
}

TEST(DimensionRule, ANodesCutIsThatOfItsResultsOrElseOperands) {
  const DimensionRule rule = Merging(5);
  Placement placement{.devices = {"gpu:0", "gpu:1"},
                      .operands = {Split(1)},
                      .results = {Split(0, 4)}};
  EXPECT_EQ(CutOfNode(rule, placement)->factor, 0);
  placement.results.clear();
  EXPECT_EQ(CutOfNode(rule, placement)->factor, 1);
  placement.operands.clear();
  EXPECT_FALSE(CutOfNode(rule, placement).has_value());
}

}  // namespace
}  // namespace partita
