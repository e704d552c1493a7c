// Sectors of accesses by warps.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/ptx/warp_traffic.h"

#include <cstdint>
#include <functional>
#include <map>

#include "gtest/gtest.h"

namespace partita::ptx {
namespace {

// Has every byte.
class AnyMemory : public Memory {
 public:
  absl::Status Read(const Access&, std::byte*) override {
    return absl::OkStatus();
  }
  absl::Status Write(const Access&, const std::byte*) override {
    return absl::OkStatus();
  }
};

// What reads of `bytes` each by threads 0 to `threads` - 1 move.
WarpTraffic TrafficOf(uint32_t threads, int bytes,
                      const std::function<uint64_t(uint32_t)>& address) {
  AnyMemory any;
  WarpTrafficMemory memory(any);
  std::byte to[16];
  for (uint32_t t = 0; t < threads; ++t) {
    EXPECT_TRUE(
        memory
            .Read(
                {.address = address(t), .bytes = bytes, .thread = t, .line = 7},
                to)
            .ok());
  }
  const std::map<int, WarpTraffic> traffic = memory.Traffic();
  EXPECT_EQ(traffic.size(), 1u);
  return traffic.at(7);
}

void ExpectSectors(const WarpTraffic& traffic, uint64_t asked, uint64_t sectors,
                   uint64_t fewest) {
  EXPECT_EQ(traffic.asked, asked);
  EXPECT_EQ(traffic.sectors, sectors);
  EXPECT_EQ(traffic.fewest, fewest);
}

TEST(WarpTraffic, NeighboursMoveNoMoreThanTheyAskFor) {
  const WarpTraffic traffic =
      TrafficOf(32, 16, [](uint32_t t) { return 4096 + 16 * t; });
  ExpectSectors(traffic, 512, 16, 16);
  EXPECT_EQ(traffic.accesses, 1u);
  EXPECT_EQ(traffic.access_bytes, 16);
  EXPECT_FALSE(traffic.writes);
  // In any order; a part of a warp.
  ExpectSectors(TrafficOf(9, 4, [](uint32_t t) { return 4128 - 4 * t; }), 36, 2,
                2);
}

TEST(WarpTraffic, AStrideMovesASectorForEachThread) {
  ExpectSectors(TrafficOf(32, 4, [](uint32_t t) { return 4096 + 32 * t; }), 128,
                32, 4);
  // Half of each.
  ExpectSectors(TrafficOf(32, 16, [](uint32_t t) { return 4096 + 32 * t; }),
                512, 32, 16);
}

TEST(WarpTraffic, NeighboursMayBeginWithinASector) {
  ExpectSectors(TrafficOf(32, 4, [](uint32_t t) { return 4100 + 4 * t; }), 128,
                5, 4);
}

TEST(WarpTraffic, AByteCountsOnceInAnAccess) {
  ExpectSectors(TrafficOf(32, 4, [](uint32_t) { return 4096; }), 4, 1, 1);
  ExpectSectors(TrafficOf(32, 4, [](uint32_t t) { return 4096 + t / 8 * 4; }),
                16, 1, 1);
}

TEST(WarpTraffic, EachWarpHasAccessesOfItsOwn) {
  const WarpTraffic traffic =
      TrafficOf(64, 4, [](uint32_t t) { return 4096 + t % 32 * 4; });
  ExpectSectors(traffic, 256, 8, 8);
  EXPECT_EQ(traffic.accesses, 2u);
}

// Threads run one after the other: their first accesses of a line are one
// access of the warp, their second ones the next.
TEST(WarpTraffic, AccessesOfALoopAreApartAsAreThoseOfBlocksAndLines) {
  AnyMemory any;
  WarpTrafficMemory memory(any);
  const std::byte from[4] = {};
  for (uint64_t block = 0; block < 2; ++block) {
    for (uint32_t t = 0; t < 32; ++t) {
      for (uint64_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(memory
                        .Write({.address = 4096 + 128 * i + 4 * t,
                                .bytes = 4,
                                .block = block,
                                .thread = t,
                                .line = i == 2 ? 8 : 7},
                               from)
                        .ok());
      }
    }
  }
  const std::map<int, WarpTraffic> traffic = memory.Traffic();
  ASSERT_EQ(traffic.size(), 2u);
  EXPECT_EQ(traffic.at(7).accesses, 4u);
  ExpectSectors(traffic.at(7), 512, 16, 16);
  EXPECT_EQ(traffic.at(8).accesses, 2u);
  ExpectSectors(traffic.at(8), 256, 8, 8);
  EXPECT_TRUE(traffic.at(7).writes);
}

// An access that the memory refuses moves nothing.
TEST(WarpTraffic, PassesErrorsOn) {
  class NoMemory : public AnyMemory {
   public:
    absl::Status Read(const Access&, std::byte*) override {
      return absl::OutOfRangeError("none");
    }
  } none;
  WarpTrafficMemory memory(none);
  std::byte to[4];
  EXPECT_EQ(memory.Read({.bytes = 4}, to), absl::OutOfRangeError("none"));
  EXPECT_TRUE(memory.Traffic().empty());
}

}  // namespace
}  // namespace partita::ptx
