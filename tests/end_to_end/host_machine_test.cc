// The machine of this host has only devices that its plans can run on.
// SPDX-License-Identifier: Apache-2.0

#include "absl/algorithm/container.h"
#include "graph/device_kind_traits.h"
#include "gtest/gtest.h"
#include "partita/backends/backend.h"
#include "placement/machine/detect_host.h"

namespace partita {
namespace {

TEST(HostMachine, GpusAreDetectedIfTheirPlansRun) {
  EXPECT_EQ(DetectOptions().gpus,
            absl::c_linear_search(RunnableKinds(), DeviceKind::kCuda));
}

TEST(HostMachine, EachDeviceIsOfAKindThatRuns) {
  for (const MachineDevice& device : DetectHost().devices) {
    EXPECT_TRUE(absl::c_linear_search(RunnableKinds(), device.traits.kind))
        << device.traits.name;
  }
}

}  // namespace
}  // namespace partita
