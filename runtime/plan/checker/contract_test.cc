// What is said when a plan meets other devices than it was made for.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/contract.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

Plan OneDevice() {
  Plan plan;
  plan.name = "f";
  PlanDevice device;
  device.traits.name = "cpu:0";
  device.traits.isa = "avx512";
  device.traits.threads = 2;
  device.persistent_bytes = 100;
  device.step_bytes = 50;
  plan.devices.push_back(device);
  plan.entries.resize(1);
  plan.entries[0].depth = 2;
  return plan;
}

ActualDevice Fitting() {
  ActualDevice device;
  device.traits = OneDevice().devices[0].traits;
  device.memory = 200;
  return device;
}

TEST(Contract, TheSameDeviceWillDo) {
  EXPECT_TRUE(CheckContract(OneDevice(), {Fitting()}).ok());
}

TEST(Contract, RatesAreNotCompared) {
  ActualDevice device = Fitting();
  device.traits.memory_bandwidth = 1;
  EXPECT_TRUE(CheckContract(OneDevice(), {device}).ok());
}

TEST(Contract, EveryDifferenceIsNamed) {
  ActualDevice device = Fitting();
  device.traits.isa = "avx2";
  device.traits.threads = 1;
  const absl::Status status = CheckContract(OneDevice(), {device});
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "plan @f was made for other devices; compile it again for these, "
            "or run it with --virtual\n"
            "  device cpu:0: found instruction set avx2; expected avx512\n"
            "  device cpu:0: found threads 1; expected 2");
}

TEST(Contract, MemoryIsThatOfAllOverlappingSteps) {
  ActualDevice device = Fitting();
  device.memory = 199;
  const absl::Status status = CheckContract(OneDevice(), {device});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "plan @f was made for other devices; compile it again for these, "
            "or run it with --virtual\n"
            "  device cpu:0: found 199 bytes free; expected 200");
}

TEST(Contract, AsManyDevices) {
  EXPECT_EQ(CheckContract(OneDevice(), {}).message(),
            "plan @f: found 0 devices; expected 1");
}

}  // namespace
}  // namespace partita
