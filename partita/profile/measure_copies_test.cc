// Copies between devices have a bandwidth and a latency.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/measure_copies.h"

#include <memory>

#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/device/late_device.h"

namespace partita {
namespace {

DeviceTraits Named(const char* name, DeviceKind kind) {
  DeviceTraits traits;
  traits.name = name;
  traits.kind = kind;
  return traits;
}

void ExpectFigures(const absl::StatusOr<MeasuredLink>& link, const char* from,
                   const char* to) {
  // The largest copy may be no slower than the next on a host that is busy.
  if (absl::IsOutOfRange(link.status())) return;
  ASSERT_TRUE(link.ok()) << link.status();
  EXPECT_EQ(link->from, from);
  EXPECT_EQ(link->to, to);
  EXPECT_GT(link->bandwidth, 0);
  EXPECT_GE(link->latency, 0);
}

// The host cannot access the memory of a device that runs behind it: that one's
// stream copies, both ways.
TEST(MeasureCopies, ADeviceWithItsOwnMemoryCopies) {
  const auto cpu = NewCpuDevice(Named("cpu:0", DeviceKind::kCpu));
  LateDevice gpu(Named("gpu:0", DeviceKind::kCuda));
  ExpectFigures(MeasureCopies(*cpu, gpu, {.from = "cpu:0", .to = "gpu:0"}),
                "cpu:0", "gpu:0");
  // Three sizes, nine copies, two directions: plans copy from the memory of a
  // CPU as well, which is none of the device's staging memory.
  EXPECT_EQ(gpu.pageable_copies(), 54);
}

TEST(MeasureCopies, TwoDevicesCopyBetweenThem) {
  LateDevice one(Named("gpu:0", DeviceKind::kCuda));
  LateDevice two(Named("gpu:1", DeviceKind::kCuda));
  ExpectFigures(MeasureCopies(one, two, {.from = "gpu:0", .to = "gpu:1"}),
                "gpu:0", "gpu:1");
}

TEST(MeasureCopies, AnArenaThatDoesNotFitIsTheDevicesError) {
  const auto cpu = NewCpuDevice(Named("cpu:0", DeviceKind::kCpu));
  LateDevice gpu(Named("gpu:0", DeviceKind::kCuda), /*total=*/1 << 20);
  EXPECT_EQ(MeasureCopies(*cpu, gpu, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace partita
