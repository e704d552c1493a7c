// Tests of vector clocks.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/clock.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(Clock, KnowsNothingAtFirst) {
  EXPECT_EQ(Clock().Ended(0), 0);
  EXPECT_EQ(Clock().size(), 0);
}

TEST(Clock, NeverForgets) {
  Clock clock;
  clock.Advance(3, 5);
  clock.Advance(3, 2);
  EXPECT_EQ(clock.Ended(3), 5);
  EXPECT_EQ(clock.Ended(2), 0);
}

TEST(Clock, JoinKnowsWhatEitherKnew) {
  Clock a;
  a.Advance(1, 4);
  a.Advance(3, 1);
  Clock b;
  b.Advance(0, 7);
  b.Advance(1, 2);
  b.Advance(3, 9);
  a.Join(b);
  EXPECT_EQ(a.Ended(0), 7);
  EXPECT_EQ(a.Ended(1), 4);
  EXPECT_EQ(a.Ended(3), 9);
  EXPECT_EQ(b.Ended(1), 2);
}

TEST(Clock, ACopyIsItsOwn) {
  Clock a;
  a.Advance(1, 1);
  Clock b = a;
  b.Advance(1, 2);
  EXPECT_EQ(a.Ended(1), 1);
  EXPECT_EQ(b.Ended(1), 2);
}

}  // namespace
}  // namespace partita
