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

constexpr StreamId kStream0{0}, kStream1{1}, kStream2{2};
constexpr TaskId kTask0{0}, kTask1{1}, kTask2{2}, kTask3{3};

TEST(Clocks, AStreamKeepsItsOrderAndAWaitOrdersTwoStreams) {
  Clocks clocks(2);
  clocks.Start(kStream0, {});
  clocks.Start(kStream0, {});
  clocks.Start(kStream1, {kTask0});
  EXPECT_TRUE(clocks.Before(kTask0, kTask1));
  EXPECT_TRUE(clocks.Before(kTask0, kTask2));
  EXPECT_FALSE(clocks.Before(kTask1, kTask2));
  EXPECT_FALSE(clocks.Before(kTask2, kTask1));
  EXPECT_EQ(clocks.Known(kTask2, kStream0), 1);
}

TEST(Clocks, NoWaitIsRedundant) {
  Clocks clocks(3);
  clocks.Start(kStream0, {});
  clocks.Start(kStream1, {kTask0});
  // The wait for task 1 implies one for task 0.
  clocks.Start(kStream2, {kTask0, kTask1});
  clocks.Start(kStream2, {kTask0});
  EXPECT_THAT(clocks.waits()[kTask2], ElementsAre(kTask1));
  EXPECT_THAT(clocks.waits()[kTask3], IsEmpty());
  EXPECT_TRUE(clocks.Before(kTask0, kTask2));
}

// Two ranks; task 0 precedes the rank in stream 0.
Clocks AfterCollective(const std::vector<RankTransfer>& ranks) {
  Clocks clocks(2);
  clocks.Start(kStream0, {});
  clocks.Start(kStream0, {});
  clocks.Start(kStream1, {});
  clocks.EndCollective(ranks);
  clocks.Start(kStream1, {});
  return clocks;
}

TEST(Clocks, ATakerKnowsWhatItsGiversKnewAtTheirStart) {
  const Clocks clocks = AfterCollective({{0, 0}, {0, 0}});
  EXPECT_TRUE(clocks.Before(kTask0, kTask3));
  EXPECT_FALSE(clocks.Before(kTask0, kTask2));
  // The rank in stream 0 may go on after the other has ended.
  EXPECT_FALSE(clocks.Before(kTask1, kTask3));
}

TEST(Clocks, ARankThatNoBytesReachKnowsNothing) {
  EXPECT_FALSE(AfterCollective({{0, -1}, {-1, -1}}).Before(kTask0, kTask3));
  EXPECT_FALSE(AfterCollective({{-1, 0}, {0, 0}}).Before(kTask0, kTask3));
  // A permute: each rank keeps its shard.
  EXPECT_FALSE(AfterCollective({{0, 0}, {1, 1}}).Before(kTask0, kTask3));
  EXPECT_TRUE(AfterCollective({{1, 0}, {0, 1}}).Before(kTask0, kTask3));
}

TEST(LiveRange, EndsWhenEveryStreamHasPassedItsLastTask) {
  Clocks clocks(2);
  clocks.Start(kStream0, {});        // writes
  clocks.Start(kStream1, {kTask0});  // reads
  clocks.Start(kStream0, {});
  clocks.Start(kStream0, {kTask1});
  const DeviceClocks device(clocks, {kTask0, kTask1, kTask2, kTask3});
  const LiveRange live_range = LiveRangeOf({kTask0, kTask1}, device);
  EXPECT_EQ(live_range.first, kTask0);
  EXPECT_EQ(live_range.last, kTask1);
  EXPECT_FALSE(EndedBefore(live_range, device.Known(kTask2)));
  EXPECT_TRUE(EndedBefore(live_range, device.Known(kTask3)));
}

}  // namespace
}  // namespace partita
