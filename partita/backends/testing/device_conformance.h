// What every device must do: tests for any device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_BACKENDS_TESTING_DEVICE_CONFORMANCE_H_
#define PARTITA_PARTITA_BACKENDS_TESTING_DEVICE_CONFORMANCE_H_

#include <omp.h>
#include <sys/prctl.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/device/device.h"

namespace partita {

// A test program instantiates the suite for its devices.
struct DeviceCase {
  std::string name;
  // Unavailable: this machine lacks it, and the tests are skipped.
  std::function<absl::StatusOr<std::unique_ptr<Device>>(DeviceTraits)> make;
  // Checks the end of a test, when all that it made is destroyed.
  std::function<void()> check_end = [] {};
};

class DeviceConformanceTest : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const absl::Status status = MakeDevice(1).status();
    if (absl::IsUnavailable(status)) GTEST_SKIP() << status;
    ASSERT_TRUE(status.ok()) << status;
  }

  void TearDown() override { GetParam().check_end(); }

  std::unique_ptr<Device> NewDevice(int threads = 1) {
    return MakeDevice(threads).value();
  }

 private:
  static absl::StatusOr<std::unique_ptr<Device>> MakeDevice(int threads) {
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

TEST_P(DeviceConformanceTest, AnArenaTakesFreeMemory) {
  auto device = NewDevice();
  const auto figures = [&] { return device->Memory().value(); };
  if (!figures().has_value()) {
    GTEST_SKIP() << "it has no memory of its own";
  }
  constexpr int64_t kSize = 4 << 20;  // more than drivers allocate at once
  const MemoryFigures before = *figures();
  {
    auto arena = device->NewArena(kSize, 64);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_LE(figures()->free, before.free - kSize);
    EXPECT_EQ(figures()->total, before.total);
  }
  EXPECT_EQ(figures()->free, before.free);
}

TEST_P(DeviceConformanceTest, AnArenaReservesItsBytesAndItsAlignment) {
  const auto device = NewDevice();
  for (const int64_t alignment : {64, 4096}) {
    const auto arena = device->NewArena(1000, alignment);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_GE((*arena)->ReservedBytes(), 1000);
    EXPECT_LE((*arena)->ReservedBytes(), 1000 + (2 << 20));
  }
}

TEST_P(DeviceConformanceTest, StagingIsMemoryOfTheHost) {
  auto device = NewDevice();
  if (device->properties().host_accesses_arenas) {
    GTEST_SKIP() << "the host accesses its arenas";
  }
  auto staging = device->NewStaging(64);
  auto arena = device->NewArena(64, 64);
  ASSERT_TRUE(staging.ok() && arena.ok());
  std::byte* const host = (*staging)->base();
  std::memset(host, 7, 32);
  const auto stream = device->NewStream().value();
  const int attached = stream->Attach();
  ASSERT_TRUE(stream->Copy({(*arena)->base(), 32}, {host, 32}).ok());
  ASSERT_TRUE(stream->Copy({host + 32, 32}, {(*arena)->base(), 32}).ok());
  ASSERT_TRUE(stream->Finish().ok());
  stream->Detach(attached);
  EXPECT_EQ(host[63], std::byte{7});
}

TEST_P(DeviceConformanceTest, MemoryIsCommittedWhenAccessed) {
  const int64_t size = int64_t{1} << 36;  // more than most hosts have
  auto device = NewDevice();
  if (!device->properties().host_accesses_arenas) {
    GTEST_SKIP() << "the host cannot access its memory";
  }
  auto arena = device->NewArena(size, 64);
  ASSERT_TRUE(arena.ok()) << arena.status();
  WholeArena open(**arena);
  (*arena)->base()[size - 1] = std::byte{1};
  EXPECT_EQ((*arena)->base()[size - 1], std::byte{1});
}

TEST_P(DeviceConformanceTest, CommittedBytesCountsAccessedPages) {
  auto device = NewDevice();
  if (!device->properties().host_accesses_arenas) {
    GTEST_SKIP() << "the host cannot access its memory";
  }
  auto arena = device->NewArena(1 << 20, 64);
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
  std::vector<uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.begin() + 128, 0);
  ASSERT_TRUE(device->Upload(base, bytes.data(), bytes.size()).ok());
  auto stream = device->NewStream().value();
  const int attached = stream->Attach();
  // Copies six of every ten bytes into blocks of four bytes with stride eight.
  ASSERT_TRUE(stream->Copy({base + 128, 4, 3, 8}, {base, 6, 2, 10}).ok());
  ASSERT_TRUE(stream->Finish().ok());
  stream->Detach(attached);
  const std::vector<int> from = {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  const std::vector<int> to = {0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19};
  ASSERT_TRUE(device->Download(bytes.data(), base, bytes.size()).ok());
  for (size_t i = 0; i < from.size(); ++i) {
    EXPECT_EQ(bytes[128 + to[i]], from[i]) << i;
  }
}

// The values pass through one place. All that accesses it is work of the
// streams, which may run behind the host.
TEST_P(DeviceConformanceTest, AnEventOrdersTwoStreams) {
  constexpr int kSteps = 500;
  std::vector<int> sent(kSteps);
  std::iota(sent.begin(), sent.end(), 0);
  const int64_t bytes = kSteps * sizeof(int);
  auto device = NewDevice();
  auto arena = device->NewArena(2 * bytes + sizeof(int), 64);
  ASSERT_TRUE(arena.ok());
  WholeArena open(**arena);
  std::byte* const from = (*arena)->base();
  std::byte* const to = from + bytes;
  const Blocks place = {to + bytes, sizeof(int)};
  const auto element = [](std::byte* base, int step) {
    return Blocks{base + step * sizeof(int), sizeof(int)};
  };
  ASSERT_TRUE(device->Upload(from, sent.data(), bytes).ok());
  auto produced = device->NewEvent().value();
  auto consumed = device->NewEvent().value();
  std::thread consumer([&] {
    auto stream = device->NewStream().value();
    const int attached = stream->Attach();
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_TRUE(stream->Wait(*produced, step, {}).value());
      EXPECT_TRUE(stream->Copy(element(to, step), place).ok());
      EXPECT_TRUE(stream->Record(*consumed, step).ok());
    }
    EXPECT_TRUE(stream->Finish().ok());
    stream->Detach(attached);
  });
  auto stream = device->NewStream().value();
  const int attached = stream->Attach();
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_TRUE(stream->Copy(place, element(from, step)).ok());
    EXPECT_TRUE(stream->Record(*produced, step).ok());
    EXPECT_TRUE(stream->Wait(*consumed, step, {}).value());
  }
  EXPECT_TRUE(stream->Finish().ok());
  stream->Detach(attached);
  consumer.join();
  std::vector<int> received(kSteps, -1);
  ASSERT_TRUE(device->Download(received.data(), to, bytes).ok());
  EXPECT_EQ(received, sent);
}

TEST_P(DeviceConformanceTest, DetachRestoresTheThread) {
  const int team = omp_get_max_threads();
  const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  const auto device = NewDevice(/*threads=*/team + 1);
  const int kernel_threads = device->properties().kernel_threads;
  const auto stream = device->NewStream().value();
  const int attached = stream->Attach();
  if (kernel_threads > 1) {
    EXPECT_EQ(omp_get_max_threads(), kernel_threads);
  }
  if (device->properties().computed_by == ComputedBy::kNothing) {
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
  }
  stream->Detach(attached);
  EXPECT_EQ(omp_get_max_threads(), team);
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), slack);
}

TEST_P(DeviceConformanceTest, AStoppedWaitReturnsFalse) {
  auto device = NewDevice();
  auto event = device->NewEvent().value();
  auto stream = device->NewStream().value();
  const int attached = stream->Attach();
  const std::atomic<bool> stop = true;
  EXPECT_FALSE(stream->Wait(*event, 0, {.stop = &stop}).value());
  stream->Detach(attached);
}

}  // namespace partita

#endif  // PARTITA_PARTITA_BACKENDS_TESTING_DEVICE_CONFORMANCE_H_
