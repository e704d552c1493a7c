// Tests of vector clocks.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/clock.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace partita {
namespace {

TEST(Clock, KnowsNothingAtFirst) {
  ClockNodes nodes;
  EXPECT_EQ(Clock(nodes).Ended(0), 0);
  EXPECT_EQ(Clock(nodes).Ended(1 << 30), 0);
  EXPECT_EQ(nodes.live(), 0);
}

TEST(Clock, NeverForgets) {
  ClockNodes nodes;
  Clock clock(nodes);
  clock.Advance(3, 5);
  clock.Advance(3, 2);
  EXPECT_EQ(clock.Ended(3), 5);
  EXPECT_EQ(clock.Ended(2), 0);
}

TEST(Clock, JoinKnowsWhatEitherKnew) {
  ClockNodes nodes;
  Clock a(nodes);
  a.Advance(1, 4);
  a.Advance(3, 1);
  Clock b(nodes);
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
  ClockNodes nodes;
  Clock a(nodes);
  a.Advance(1, 1);
  Clock b = a;
  b.Advance(1, 2);
  EXPECT_EQ(a.Ended(1), 1);
  EXPECT_EQ(b.Ended(1), 2);
}

TEST(Clock, JoinsClocksOfFewAndOfManyStreams) {
  ClockNodes nodes;
  Clock few(nodes);
  few.Advance(2, 3);
  Clock many(nodes);
  many.Advance(100'000, 4);
  Clock both = few;
  both.Join(many);
  many.Join(few);
  for (const Clock& clock : {both, many}) {
    EXPECT_EQ(clock.Ended(2), 3);
    EXPECT_EQ(clock.Ended(100'000), 4);
    EXPECT_EQ(clock.Ended(99'999), 0);
  }
}

// A thousand clocks; each knows a thousand streams and one more.
TEST(Clock, ClocksShareWhatTheyHaveInCommon) {
  constexpr int kStreams = 1000;
  ClockNodes nodes;
  Clock all(nodes);
  for (int s = 0; s < kStreams; ++s) all.Advance(s, 1);
  const int64_t of_one = nodes.live();
  {
    std::vector<Clock> later(kStreams, all);
    EXPECT_EQ(nodes.live(), of_one);
    for (int s = 0; s < kStreams; ++s) later[s].Advance(s, 2);
    EXPECT_LE(nodes.live(), of_one + 3 * kStreams);
    for (const Clock& clock : later) all.Join(clock);
    EXPECT_EQ(all.Ended(kStreams - 1), 2);
  }
  all.Clear();
  EXPECT_EQ(nodes.live(), 0);
}

// Compares with one map for each clock.
TEST(Clock, IsAMapOfTheMostThatIsKnown) {
  std::mt19937_64 random(5);
  ClockNodes nodes;
  std::vector<Clock> clocks(6, Clock(nodes));
  std::vector<std::map<int32_t, int64_t>> maps(clocks.size());
  for (int i = 0; i < 4'000; ++i) {
    const size_t a = random() % clocks.size(), b = random() % clocks.size();
    const auto stream = static_cast<int32_t>(random() % (1 << random() % 11));
    const auto count = static_cast<int64_t>(1 + random() % 100);
    switch (random() % 4) {
      case 0:
        clocks[a].Join(clocks[b]);
        for (const auto& [s, n] : maps[b]) maps[a][s] = std::max(maps[a][s], n);
        break;
      case 1:
        clocks[a] = clocks[b];
        maps[a] = maps[b];
        break;
      default:
        clocks[a].Advance(stream, count);
        maps[a][stream] = std::max(maps[a][stream], count);
    }
    if (random() % 200 == 0) {
      clocks[a].Clear();
      maps[a].clear();
    }
    ASSERT_EQ(clocks[a].Ended(stream),
              maps[a].contains(stream) ? maps[a][stream] : 0);
  }
}

}  // namespace
}  // namespace partita
