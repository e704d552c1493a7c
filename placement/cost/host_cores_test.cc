// Tests who shares the host's cores.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/host_cores.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 30;

Machine CpuAndGpu(MachineHost host) {
  Machine machine = CpuAndGpus(1, kRoom);
  machine.devices[0].traits.threads = 3;
  machine.host = host;
  return machine;
}

TEST(HostCoresTest, WithoutCoresNothingIsShared) {
  const Machine machine = CpuAndGpu({});
  const DeviceTraits& cpu = machine.devices[0].traits;
  const HostCores cores(machine);
  EXPECT_FALSE(cores.are_shared());
  EXPECT_EQ(cores.OfKernel(cpu), 0);
  EXPECT_EQ(cores.OfCopy(cpu, cpu), 0);
  EXPECT_EQ(cores.Slowdown(100), 1);
  EXPECT_EQ(cores.WakeSeconds(cpu, 1, 100), 0);
  EXPECT_EQ(cores.HandoverSeconds(cpu), 0);
  EXPECT_EQ(cores.LeastSeconds(100), 0);
}

TEST(HostCoresTest, OnlyDevicesOfTheHostUseItsCores) {
  const Machine machine = CpuAndGpu({.cores = 4, .wake_seconds = 1});
  const DeviceTraits& cpu = machine.devices[0].traits;
  const DeviceTraits& gpu = machine.devices[1].traits;
  const HostCores cores(machine);
  EXPECT_EQ(cores.OfKernel(cpu), 3);
  EXPECT_EQ(cores.OfLocalCopy(cpu), 1);
  EXPECT_EQ(cores.OfRank(cpu), 1);
  EXPECT_EQ(cores.OfCopy(cpu, cpu), 1);
  EXPECT_EQ(cores.OfKernel(gpu), 0);
  EXPECT_EQ(cores.OfLocalCopy(gpu), 0);
  EXPECT_EQ(cores.OfCopy(cpu, gpu), 0);
  EXPECT_EQ(cores.OfCopy(gpu, cpu), 0);
  EXPECT_EQ(cores.HandoverSeconds(cpu), 1);
  EXPECT_EQ(cores.HandoverSeconds(gpu), 0);
  EXPECT_EQ(cores.WakeSeconds(gpu, 1, 100), 0);
}

TEST(HostCoresTest, MoreThreadsThanCoresSlowEachOtherDown) {
  const HostCores cores(CpuAndGpu({.cores = 4}));
  EXPECT_EQ(cores.Slowdown(1), 1);
  EXPECT_EQ(cores.Slowdown(4), 1);
  EXPECT_EQ(cores.Slowdown(6), 1.5);
  EXPECT_EQ(cores.LeastSeconds(6), 1.5);
}

// As the executor: with more threads than cores, waits sleep at once.
TEST(HostCoresTest, AShortWaitPollsIfEveryThreadHasACore) {
  const Machine machine = CpuAndGpu({.cores = 4, .wake_seconds = 0.25});
  const DeviceTraits& cpu = machine.devices[0].traits;
  const HostCores cores(machine);
  EXPECT_EQ(cores.WakeSeconds(cpu, kPollSeconds / 2, 4), 0);
  EXPECT_EQ(cores.WakeSeconds(cpu, kPollSeconds * 2, 4), 0.25);
  EXPECT_EQ(cores.WakeSeconds(cpu, kPollSeconds / 2, 5), 0.25);
  EXPECT_EQ(cores.WakeSeconds(cpu, 0, 5), 0);
}

}  // namespace
}  // namespace partita
