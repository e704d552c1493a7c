// Tests what every device must do, with each kind that this machine has.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/device/host_arena.h"
#include "runtime/device/host_device.h"

namespace partita {
namespace {

struct DeviceCase {
  std::string name;
  std::function<std::unique_ptr<Device>(DeviceTraits)> make;
};

class DeviceConformanceTest : public testing::TestWithParam<DeviceCase> {
 protected:
  std::unique_ptr<Device> NewDevice(int threads = 1) {
    DeviceTraits traits;
    traits.name = "tested:0";
    traits.threads = threads;
    return GetParam().make(traits);
  }
};

// Makes a whole arena accessible, like a command that declares it.
class WholeArena {
 public:
  explicit WholeArena(Arena& arena) : arena_(arena) {
    if (arena_.guard() != nullptr) arena_.guard()->Open({all_});
  }
  ~WholeArena() {
    if (arena_.guard() != nullptr) arena_.guard()->Close({all_});
  }

 private:
  Arena& arena_;
  const Blocks all_ = {arena_.base(), arena_.size()};
};

TEST_P(DeviceConformanceTest, AnArenaHasTheSizeAndAlignmentAskedFor) {
  for (int64_t alignment : {64, 4096, 1 << 16}) {
    auto arena = NewDevice()->NewArena(100003, alignment);
    ASSERT_TRUE(arena.ok());
    EXPECT_EQ((*arena)->size(), 100003);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*arena)->base()) % alignment, 0u);
  }
}

TEST_P(DeviceConformanceTest, AnEmptyArenaIsFine) {
  auto arena = NewDevice()->NewArena(0, 64);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ((*arena)->CommittedBytes(), 0);
}

TEST_P(DeviceConformanceTest, ImpossibleArenasAreRefusedWithTheFigure) {
  const auto arena = NewDevice()->NewArena(int64_t{1} << 60, 64).status();
  EXPECT_EQ(arena.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(arena.message().find("1152921504606846976"),
            absl::string_view::npos)
      << arena;
  EXPECT_EQ(NewDevice()->NewArena(64, 48).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(DeviceConformanceTest, MemoryIsCommittedWhenAccessed) {
  const int64_t size = int64_t{1} << 36;  // more than most hosts have
  auto arena = NewDevice()->NewArena(size, 64);
  ASSERT_TRUE(arena.ok()) << arena.status();
  WholeArena open(**arena);
  (*arena)->base()[size - 1] = std::byte{1};
  EXPECT_EQ((*arena)->base()[size - 1], std::byte{1});
}

TEST_P(DeviceConformanceTest, CommittedBytesCountsAccessedPages) {
  auto arena = NewDevice()->NewArena(1 << 20, 64);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ((*arena)->CommittedBytes(), 0);
  WholeArena open(**arena);
  std::memset((*arena)->base(), 1, 3 << 12);
  EXPECT_GE((*arena)->CommittedBytes(), 3 << 12);
}

TEST_P(DeviceConformanceTest, UploadsComeBack) {
  auto device = NewDevice();
  auto arena = device->NewArena(64, 64);
  ASSERT_TRUE(arena.ok());
  WholeArena open(**arena);
  const std::string sent = "partita";
  std::string received(sent.size(), ' ');
  ASSERT_TRUE(
      device->Upload((*arena)->base() + 8, sent.data(), sent.size()).ok());
  ASSERT_TRUE(
      device->Download(received.data(), (*arena)->base() + 8, received.size())
          .ok());
  EXPECT_EQ(received, sent);
}

TEST_P(DeviceConformanceTest, CopiesJoinBlocksOfDifferentLengths) {
  auto device = NewDevice();
  auto arena = device->NewArena(256, 64);
  ASSERT_TRUE(arena.ok());
  WholeArena open(**arena);
  std::byte* base = (*arena)->base();
  for (int i = 0; i < 128; ++i) base[i] = std::byte(i);
  auto stream = device->NewStream();
  const int attached = stream->Attach();
  // Copies six of every ten bytes into blocks of four bytes with stride eight.
  ASSERT_TRUE(stream->Copy({base + 128, 4, 3, 8}, {base, 6, 2, 10}).ok());
  ASSERT_TRUE(stream->Finish().ok());
  stream->Detach(attached);
  const std::vector<int> from = {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  const std::vector<int> to = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19};
  for (size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(std::to_integer<int>(base[128 + to[i]]), from[i]) << i;
  }
}

TEST_P(DeviceConformanceTest, AnEventOrdersTwoStreams) {
  auto device = NewDevice();
  auto arena = device->NewArena(4096, 64);
  ASSERT_TRUE(arena.ok());
  WholeArena open(**arena);
  std::byte* base = (*arena)->base();
  auto produced = device->NewEvent();
  auto consumed = device->NewEvent();
  constexpr int kSteps = 500;
  std::vector<int> seen;
  std::thread consumer([&] {
    auto stream = device->NewStream();
    const int attached = stream->Attach();
    for (int step = 0; step < kSteps; ++step) {
      int value = -1;
      ASSERT_TRUE(stream->Wait(*produced, step, {}));
      ASSERT_TRUE(device->Download(&value, base, sizeof(value)).ok());
      seen.push_back(value);
      ASSERT_TRUE(stream->Record(*consumed, step).ok());
    }
    stream->Detach(attached);
  });
  auto stream = device->NewStream();
  const int attached = stream->Attach();
  for (int step = 0; step < kSteps; ++step) {
    ASSERT_TRUE(device->Upload(base, &step, sizeof(step)).ok());
    ASSERT_TRUE(stream->Record(*produced, step).ok());
    ASSERT_TRUE(stream->Wait(*consumed, step, {}));
  }
  stream->Detach(attached);
  consumer.join();
  std::vector<int> expected(kSteps);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST_P(DeviceConformanceTest, AStoppedWaitReturnsFalse) {
  auto device = NewDevice();
  auto event = device->NewEvent();
  auto stream = device->NewStream();
  const int attached = stream->Attach();
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(stream->Wait(*event, 0, {.stop = &stop}));
  stream->Detach(attached);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceConformanceTest,
                         testing::Values(DeviceCase{"cpu",
                                                    [](DeviceTraits traits) {
                                                      return NewCpuDevice(
                                                          std::move(traits));
                                                    }},
                                         DeviceCase{"virtual",
                                                    [](DeviceTraits traits) {
                                                      return NewVirtualDevice(
                                                          std::move(traits),
                                                          /*timed=*/false);
                                                    }}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace partita
