// Tests of happens-before: waits, what tasks know, and collectives.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "placement/lower/device_clocks.h"
#include "placement/lower/live_range.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Clocks, AStreamKeepsItsOrderAndAWaitOrdersTwoStreams) {
  Clocks clocks(2);
  clocks.Start(0, {});
  clocks.Start(0, {});
  clocks.Start(1, {0});
  EXPECT_TRUE(clocks.Before(0, 1));
  EXPECT_TRUE(clocks.Before(0, 2));
  EXPECT_FALSE(clocks.Before(1, 2));
  EXPECT_FALSE(clocks.Before(2, 1));
  EXPECT_EQ(clocks.Known(2, 0), 1);
}

TEST(Clocks, NoWaitIsRedundant) {
  Clocks clocks(3);
  clocks.Start(0, {});
  clocks.Start(1, {0});
  clocks.Start(2, {0, 1});  // the wait for task 1 implies the other
  clocks.Start(2, {0});
  EXPECT_THAT(clocks.waits()[2], ElementsAre(1));
  EXPECT_THAT(clocks.waits()[3], IsEmpty());
  EXPECT_TRUE(clocks.Before(0, 2));
}

// Two ranks; task 0 precedes the rank in stream 0.
Clocks AfterCollective(const std::vector<RankTransfer>& ranks) {
  Clocks clocks(2);
  clocks.Start(0, {});
  clocks.Start(0, {});
  clocks.Start(1, {});
  clocks.EndCollective(ranks);
  clocks.Start(1, {});
  return clocks;
}

TEST(Clocks, ATakerKnowsWhatItsGiversKnewAtTheirStart) {
  const Clocks clocks = AfterCollective({{0, 0}, {0, 0}});
  EXPECT_TRUE(clocks.Before(0, 3));
  EXPECT_FALSE(clocks.Before(0, 2));
  // The rank in stream 0 may go on after the other has ended.
  EXPECT_FALSE(clocks.Before(1, 3));
}

TEST(Clocks, ARankThatNoBytesReachKnowsNothing) {
  EXPECT_FALSE(AfterCollective({{0, -1}, {-1, -1}}).Before(0, 3));
  EXPECT_FALSE(AfterCollective({{-1, 0}, {0, 0}}).Before(0, 3));
  // A permute: each rank keeps its shard.
  EXPECT_FALSE(AfterCollective({{0, 0}, {1, 1}}).Before(0, 3));
  EXPECT_TRUE(AfterCollective({{1, 0}, {0, 1}}).Before(0, 3));
}

TEST(LiveRange, EndsWhenEveryStreamHasPassedItsLastTask) {
  Clocks clocks(2);
  clocks.Start(0, {});   // writes
  clocks.Start(1, {0});  // reads
  clocks.Start(0, {});
  clocks.Start(0, {1});
  const DeviceClocks device(clocks, {0, 1, 2, 3});
  const LiveRange live_range = LiveRangeOf({0, 1}, device);
  EXPECT_EQ(live_range.first, 0);
  EXPECT_EQ(live_range.last, 1);
  EXPECT_FALSE(EndedBefore(live_range, device.Known(2)));
  EXPECT_TRUE(EndedBefore(live_range, device.Known(3)));
}

}  // namespace
}  // namespace partita
