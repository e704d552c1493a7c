// Tests which backend runs which device.
// SPDX-License-Identifier: Apache-2.0

#include "partita/backends/backend.h"

#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/device_kind_traits.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(Backend, RowsHaveNamesOfTheirOwn) {
  std::set<absl::string_view> names;
  for (const Backend* backend : Backends()) {
    EXPECT_TRUE(names.insert(backend->name).second) << backend->name;
  }
}

TEST(Backend, EachKindHasOneRowAndItsKernels) {
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    const int rows = static_cast<int>(absl::c_count_if(
        Backends(), [&](const Backend* row) { return row->kind == kind; }));
    EXPECT_EQ(rows, 1) << DeviceKindName(kind);
    EXPECT_EQ(BackendOf(kind).kind, kind);
    EXPECT_NE(BackendOf(kind).catalog, nullptr);
  }
}

TEST(Backend, AKindIsRunnableIfItsBackendMakesDevices) {
  const std::vector<DeviceKind> runnable = RunnableKinds();
  for (int i = 0; i < kNumDeviceKinds; ++i) {
    const auto kind = static_cast<DeviceKind>(i);
    EXPECT_EQ(BackendOf(kind).new_device != nullptr,
              absl::c_linear_search(runnable, kind))
        << DeviceKindName(kind);
  }
  EXPECT_TRUE(absl::c_linear_search(runnable, DeviceKind::kCpu));
}

TEST(Backend, ADeviceHasLibrariesForItsKernels) {
  for (const Backend* backend : Backends()) {
    if (backend->new_device == nullptr) continue;
    EXPECT_NE(backend->libraries, nullptr) << backend->name;
    EXPECT_NE(backend->new_communicator, nullptr) << backend->name;
  }
}

// What predictions say of a kind is what its devices do: one launcher feeds all
// streams that run behind the host, one step after the other. Of GPUs,
// //tests/gpu:emulated_sessions_test.
TEST(Backend, AKindOverlapsStepsIfItsStreamsRunOnTheHost) {
  DeviceTraits cpu;
  cpu.name = "cpu:0";
  const auto device = BackendOf(DeviceKind::kCpu).new_device(cpu, {});
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_FALSE((*device)->properties().runs_behind_host);
  EXPECT_FALSE((*device)->properties().emulated);
  EXPECT_TRUE(TraitsOf(DeviceKind::kCpu).overlaps_steps);
}

TEST(Backend, EmulatorsTakeDevicesOfAnyKind) {
  DeviceTraits gpu;
  gpu.name = "gpu:0";
  gpu.kind = DeviceKind::kCuda;
  const auto is_computed_by = [&](const Backend& backend) {
    EXPECT_FALSE(backend.kind.has_value());
    const auto device = backend.new_device(gpu, {});
    EXPECT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->traits(), gpu);
    EXPECT_TRUE((*device)->properties().emulated);
    return (*device)->properties().computed_by;
  };
  EXPECT_EQ(is_computed_by(VirtualBackend()), ComputedBy::kHostKernels);
  EXPECT_EQ(is_computed_by(TimedBackend()), ComputedBy::kNothing);
}

}  // namespace
}  // namespace partita
