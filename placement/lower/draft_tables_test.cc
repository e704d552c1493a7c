// Tests of the tables in which a draft finds streams and ranks.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "placement/lower/device_lists.h"
#include "placement/lower/stream_table.h"

namespace partita {
namespace {

constexpr MachineDeviceId kCpu{0}, kGpu0{1}, kGpu1{2};

TEST(DeviceLists, StoreAListOnceAndKnowTheRanksOnIt) {
  DeviceLists lists;
  const DeviceListId both = lists.Of({kGpu1, kCpu});
  const DeviceListId reversed = lists.Of({kCpu, kGpu1});
  EXPECT_EQ(lists.Of({kGpu1, kCpu}), both);
  EXPECT_NE(reversed, both);
  EXPECT_EQ(lists.RankOn(both, kGpu1), 0);
  EXPECT_EQ(lists.RankOn(both, kCpu), 1);
  EXPECT_EQ(lists.RankOn(reversed, kGpu1), 1);
  EXPECT_EQ(lists.RankOn(both, kGpu0), -1);
  EXPECT_EQ(lists.RankOn(lists.Of({}), kCpu), -1);
}

TEST(StreamTable, NumbersStreamsInTheOrderOfTheirFirstUse) {
  StreamTable streams;
  const StreamKey copy = {kGpu0, StreamKey::Role::kCopy, kGpu1};
  const StreamKey back = {kGpu1, StreamKey::Role::kCopy, kGpu0};
  EXPECT_EQ(streams.Of(copy), StreamId(0));
  EXPECT_EQ(streams.Of({kGpu0}), StreamId(1));
  EXPECT_EQ(streams.Of(back), StreamId(2));
  EXPECT_EQ(streams.Of(copy), StreamId(0));
  EXPECT_EQ(streams.size(), 3u);
  EXPECT_EQ(streams[StreamId(2)], back);
}

}  // namespace
}  // namespace partita
