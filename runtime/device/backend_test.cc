// Tests which backend runs which device.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/backend.h"

#include <set>

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(Backend, RowsHaveNamesOfTheirOwn) {
  std::set<absl::string_view> names;
  for (const Backend* backend : Backends()) {
    EXPECT_TRUE(names.insert(backend->name).second) << backend->name;
  }
}

TEST(Backend, AKindIsRunnableIfItHasABackend) {
  std::set<DeviceKind> runnable;
  for (const DeviceKind kind : RunnableKinds()) {
    EXPECT_TRUE(runnable.insert(kind).second) << DeviceKindName(kind);
  }
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    const Backend* backend = BackendOf(kind);
    EXPECT_EQ(backend != nullptr, runnable.count(kind) == 1)
        << DeviceKindName(kind);
    if (backend == nullptr) continue;
    EXPECT_EQ(backend->kind, kind);
  }
  EXPECT_EQ(runnable.count(DeviceKind::kCpu), 1u);
}

TEST(Backend, EmulatorsTakeDevicesOfAnyKind) {
  DeviceTraits gpu;
  gpu.name = "gpu:0";
  gpu.kind = DeviceKind::kCuda;
  const auto is_computed_by = [&](const Backend& backend) {
    EXPECT_FALSE(backend.kind.has_value());
    const auto device = backend.new_device(gpu);
    EXPECT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->traits(), gpu);
    return (*device)->properties().computed_by;
  };
  EXPECT_EQ(is_computed_by(VirtualBackend()), ComputedBy::kHostKernels);
  EXPECT_EQ(is_computed_by(TimedBackend()), ComputedBy::kNothing);
}

}  // namespace
}  // namespace partita
