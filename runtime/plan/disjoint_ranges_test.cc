// Tests of disjoint ranges.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/disjoint_ranges.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(DisjointRanges, AdjacentRangesDoNotOverlap) {
  DisjointRanges ranges;
  EXPECT_TRUE(ranges.Take(10, 10));
  EXPECT_TRUE(ranges.Take(0, 10));
  EXPECT_TRUE(ranges.Take(20, 10));
}

TEST(DisjointRanges, AByteIsTakenOnce) {
  DisjointRanges ranges;
  ASSERT_TRUE(ranges.Take(10, 10));
  EXPECT_FALSE(ranges.Take(10, 10));  // all
  EXPECT_FALSE(ranges.Take(12, 2));   // inside
  EXPECT_FALSE(ranges.Take(0, 100));  // around
  EXPECT_FALSE(ranges.Take(0, 11));   // the first one
  EXPECT_FALSE(ranges.Take(19, 5));   // the last one
  EXPECT_TRUE(ranges.Take(0, 10));    // a refused range takes nothing
  EXPECT_TRUE(ranges.Take(20, 80));
}

TEST(DisjointRanges, EmptyRangesTakeNothing) {
  DisjointRanges ranges;
  ASSERT_TRUE(ranges.Take(10, 10));
  EXPECT_TRUE(ranges.Take(15, 0));
  EXPECT_TRUE(ranges.Take(15, 0));
}

}  // namespace
}  // namespace partita
