// Tests which constants are read in place, and which are copied to the arena.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/session_memory.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/device/late_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

constexpr int64_t kBytes = 64;  // of each constant; constants are contiguous

struct Bytes {
  int64_t begin;
  int64_t end;
};

// The number of bytes that stay outside the arena of the first device. Each of
// two devices has `constants` constants; the buffers of the first also read the
// ranges `reads`.
int64_t InPlace(int constants, const std::vector<Bytes>& reads) {
  PlanBuilder b(2);
  for (int device = 0; device < 2; ++device) {
    for (int i = 0; i < constants; ++i) {
      ValueId result;
      b.Constant(absl::StrCat("w", device, "_", i), device,
                 HostTensor({DType::kF32, {kBytes / 4}, {}}), result);
    }
  }
  for (const Bytes& read : reads) {
    b.entry().buffers.push_back(
        {"read",
         DeviceId(0),
         {.offset = read.begin, .block = read.end - read.begin},
         /*persistent=*/true});
  }
  const std::shared_ptr<Plan> plan = b.Finish();
  const Devices devices = NewDevices(*plan, RunOn::kCpu);
  const auto memory =
      SessionMemory::New(*plan, devices, /*constants_in_place=*/true);
  EXPECT_TRUE(memory.ok()) << memory.status();
  const std::vector<DeviceMemory> use = (*memory)->Use().value();
  EXPECT_EQ(use[1].in_place, constants * kBytes);
  return use[0].in_place;
}

TEST(SessionMemory, ConstantsAreReadInPlace) {
  EXPECT_EQ(InPlace(3, {}), 3 * kBytes);
}

TEST(SessionMemory, BuffersMayReadPartsOfAConstantInPlace) {
  EXPECT_EQ(InPlace(3, {{0, 64}, {0, 32}, {96, 128}, {130, 140}}), 3 * kBytes);
}

TEST(SessionMemory, ConstantsThatAreReadTogetherAreInTheArena) {
  EXPECT_EQ(InPlace(4, {{0, 128}}), 2 * kBytes);
  EXPECT_EQ(InPlace(4, {{0, 256}}), 0);
  EXPECT_EQ(InPlace(4, {{100, 130}}), 2 * kBytes);
  EXPECT_EQ(InPlace(4, {{64, 65}, {127, 129}, {192, 256}}), 2 * kBytes);
  EXPECT_EQ(InPlace(4, {{0, 64}, {64, 128}, {128, 192}}), 4 * kBytes);
}

// Each buffer overlaps each constant.
TEST(SessionMemory, ManyBuffersAndConstantsAreHandledQuickly) {
  constexpr int kMany = 1 << 15;
  const std::vector<Bytes> all(kMany, Bytes{0, kMany * kBytes});
  EXPECT_EQ(InPlace(kMany, all), 0);
}

// A session of a plan with 64 bytes on one device that has `total` bytes, of
// which others use 1000.
absl::StatusOr<DeviceMemory> UseOf(int64_t total) {
  PlanBuilder b(1, DeviceKind::kCuda);
  ValueId result;
  b.Constant("w", 0, HostTensor({DType::kF32, {kBytes / 4}, {}}), result);
  const std::shared_ptr<Plan> plan = b.Finish();
  Devices devices;
  devices.push_back(std::make_unique<LateDevice>(plan->devices[0].traits, total,
                                                 /*outside=*/1000));
  const auto memory =
      SessionMemory::New(*plan, devices, /*constants_in_place=*/true);
  if (!memory.ok()) return memory.status();
  return (*memory)->Use().value()[0];
}

TEST(SessionMemory, MemoryInUseOutsideTheArenaIsMeasured) {
  const auto use = UseOf(1064);
  ASSERT_TRUE(use.ok()) << use.status();
  EXPECT_EQ(use->arena, 64);
  EXPECT_EQ(use->outside, 1000);
  EXPECT_EQ(use->total, 1064);
  EXPECT_EQ(use->free, 0);
}

TEST(SessionMemory, AnArenaBeyondTheFreeBytesIsRefusedWithThePlansFigures) {
  EXPECT_EQ(UseOf(1063).status(),
            absl::ResourceExhaustedError(
                "plan @hand_made: found an arena of 64 bytes on gpu:0, 64 of "
                "them persistent; expected at most the 63 bytes that are free "
                "of its 1063: 1000 are in use outside the arena; end the "
                "processes that use them, or compile for a machine whose "
                "`reserve` is as large"));
}

}  // namespace
}  // namespace partita
