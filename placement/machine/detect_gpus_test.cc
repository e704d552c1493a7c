// GPUs as a driver and NVML describe them, and the machine that they make.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_gpus.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "placement/machine/detect_host.h"
#include "placement/machine/link_table.h"

namespace partita {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FolderOf(const char* name) {
  return std::filesystem::absolute(std::string("placement/machine/") + name);
}

// Without NVML the system's may be found: it knows no such GPUs.
GpuInventory WithoutNvml() { return DetectGpus({{FolderOf("stand_in")}}); }
GpuInventory WithNvml() {
  return DetectGpus({{FolderOf("stand_in"), FolderOf("stand_in_nvml")}});
}

MachineDevice SecondGpu() { return WithoutNvml().gpus[1].device; }

TEST(DetectGpusTest, TheDriversAttributesBecomeDevices) {
  const GpuInventory inventory = WithoutNvml();
  EXPECT_EQ(inventory.why_no_gpus, "");
  ASSERT_EQ(inventory.gpus.size(), 4u);
  const DetectedGpu& gpu = inventory.gpus[1];
  EXPECT_EQ(gpu.model, "Stand-in 1");
  EXPECT_EQ(gpu.pci_address, "0000:11:00.0");
  EXPECT_EQ(gpu.capability_major, 9);
  EXPECT_EQ(gpu.capability_minor, 0);
  EXPECT_EQ(gpu.device.traits.name, "gpu:1");
  EXPECT_EQ(gpu.device.traits.kind, DeviceKind::kCuda);
  EXPECT_EQ(gpu.device.traits.isa, "sm_90");
  EXPECT_EQ(gpu.device.memory, int64_t{80} << 30);
  EXPECT_EQ(gpu.device.usable(), int64_t{79} << 30);
  // 100 multiprocessors of 128 lanes, 2 operations each, at 1 GHz.
  EXPECT_DOUBLE_EQ(gpu.device.traits.peak_flops[static_cast<int>(DType::kF32)],
                   2.56e13);
  // 5,120 bits twice a clock of 2 GHz.
  EXPECT_DOUBLE_EQ(gpu.device.traits.memory_bandwidth, 2.56e12);
}

std::vector<GpuRoute> RoutesOf(const GpuInventory& inventory) {
  std::vector<GpuRoute> routes;
  for (const GpuPair& pair : inventory.pairs) routes.push_back(pair.route);
  return routes;
}

// Of GPUs 0-1, 0-2, 0-3, 1-2, 1-3, 2-3.
TEST(DetectGpusTest, WithoutNvmlNativeAtomicsMeanNvlink) {
  const GpuInventory inventory = WithoutNvml();
  constexpr GpuRoute kHost = GpuRoute::kThroughHost;
  EXPECT_EQ(RoutesOf(inventory),
            (std::vector<GpuRoute>{GpuRoute::kNvlink, kHost, kHost,
                                   GpuRoute::kPcie, kHost, kHost}));
  EXPECT_EQ(inventory.pairs[0].nvlinks, 0);
  EXPECT_TRUE(inventory.pairs[0].native_atomics);
  EXPECT_EQ(inventory.pairs[0].performance_rank, 0);
  EXPECT_FALSE(inventory.pairs[3].native_atomics);
  EXPECT_EQ(inventory.pairs[3].performance_rank, 1);
  EXPECT_NE(inventory.why_no_nvlinks, "");
}

// Three direct links and one by way of switches; and two by way of switches.
TEST(DetectGpusTest, NvmlCountsLinksThatAreUp) {
  const GpuInventory inventory = WithNvml();
  EXPECT_EQ(inventory.why_no_nvlinks, "");
  EXPECT_EQ(inventory.pairs[0].route, GpuRoute::kNvlink);
  EXPECT_EQ(inventory.pairs[0].nvlinks, 4);
  EXPECT_EQ(inventory.pairs[3].one, 1);
  EXPECT_EQ(inventory.pairs[3].route, GpuRoute::kNvlink);
  EXPECT_EQ(inventory.pairs[3].nvlinks, 2);
  // The driver says that they are no peers.
  EXPECT_EQ(inventory.pairs[1].route, GpuRoute::kThroughHost);
}

const Link& LinkOf(const Machine& machine, const char* one, const char* two) {
  return *LinkTable(machine).Find(one, two);
}

TEST(DetectGpusTest, TheRouteDecidesTheLink) {
  const Machine counted = HostMachine(WithNvml(), {});
  EXPECT_DOUBLE_EQ(LinkOf(counted, "gpu:0", "gpu:1").bandwidth, 4 * 2.5e10);
  EXPECT_EQ(LinkOf(counted, "gpu:0", "gpu:1").bus, "");
  const Machine guessed = HostMachine(WithoutNvml(), {});
  EXPECT_DOUBLE_EQ(LinkOf(guessed, "gpu:0", "gpu:1").bandwidth, 18 * 2.5e10);
  const Link& pcie = LinkOf(guessed, "gpu:1", "gpu:2");
  const Link& through_host = LinkOf(guessed, "gpu:0", "gpu:3");
  const Link& to_host = LinkOf(guessed, "cpu:0", "gpu:3");
  EXPECT_EQ(pcie.bandwidth, to_host.bandwidth);
  EXPECT_EQ(through_host.bandwidth, to_host.bandwidth / 2);
  for (const Link* link : {&pcie, &through_host, &to_host}) {
    EXPECT_EQ(link->bus, "pcie");
  }
}

// gpu:0 and gpu:1 are one GPU, gpu:2 and gpu:3 the next.
TEST(DetectGpusTest, SharesHaveTheRoutesOfTheirGpus) {
  const Machine machine = HostMachine(WithNvml(), {.shares = 2});
  ASSERT_EQ(machine.devices.size(), 9u);
  EXPECT_DOUBLE_EQ(LinkOf(machine, "gpu:0", "gpu:1").bandwidth, 2.56e12 / 2);
  EXPECT_DOUBLE_EQ(LinkOf(machine, "gpu:1", "gpu:2").bandwidth, 4 * 2.5e10);
}

TEST(DetectGpusTest, AShareOfAGpuHasItsPartOfMemoryAndRates) {
  const MachineDevice gpu = SecondGpu();
  const MachineDevice share = ShareOf(gpu, /*number=*/7, {.shares = 4});
  EXPECT_EQ(share.traits.name, "gpu:7");
  EXPECT_EQ(share.memory, int64_t{20} << 30);
  EXPECT_EQ(4 * share.usable(), gpu.usable());
  EXPECT_DOUBLE_EQ(4 * share.traits.memory_bandwidth,
                   gpu.traits.memory_bandwidth);
  const int f32 = static_cast<int>(DType::kF32);
  EXPECT_DOUBLE_EQ(4 * share.traits.peak_flops[f32],
                   gpu.traits.peak_flops[f32]);
  // Whole blocks of 2 MiB.
  EXPECT_EQ(ShareOf(gpu, 0, {.shares = 3}).usable() % (2 << 20), 0);
}

TEST(DetectGpusTest, OneShareIsTheGpu) {
  const MachineDevice gpu = SecondGpu();
  const MachineDevice share = ShareOf(gpu, /*number=*/1, {});
  EXPECT_EQ(share.traits, gpu.traits);
  EXPECT_EQ(share.memory, gpu.memory);
  EXPECT_EQ(share.reserve, gpu.reserve);
}

// No code is generated for it. Plans name the others as the driver counts.
TEST(DetectGpusTest, AGpuThatIsTooOldForPlansIsNoDevice) {
  setenv("PARTITA_STAND_IN_OLD_GPU", "1", 1);
  const GpuInventory inventory = WithNvml();
  unsetenv("PARTITA_STAND_IN_OLD_GPU");
  ASSERT_EQ(inventory.gpus.size(), 4u);
  EXPECT_FALSE(RunsPlans(inventory.gpus[0]));
  EXPECT_TRUE(RunsPlans(inventory.gpus[1]));
  const Machine machine = HostMachine(inventory, {});
  EXPECT_EQ(machine.devices.size(), 4u);
  EXPECT_EQ(machine.devices[1].traits.name, "gpu:1");
  EXPECT_DOUBLE_EQ(LinkOf(machine, "gpu:1", "gpu:2").bandwidth, 2 * 2.5e10);
  EXPECT_EQ(LinkTable(machine).Find("cpu:0", "gpu:0"), nullptr);
  const Machine shares = HostMachine(inventory, {.shares = 2});
  EXPECT_EQ(shares.devices.size(), 7u);
  EXPECT_EQ(shares.devices[1].traits.name, "gpu:2");
}

// What follows the folder depends on the host.
TEST(DetectGpusTest, WithoutADriverOneSentenceSaysSo) {
  const GpuInventory inventory = DetectGpus({{"/no/such/folder"}});
  if (!inventory.gpus.empty()) GTEST_SKIP() << "found a driver on this host";
  EXPECT_THAT(inventory.why_no_gpus,
              AnyOf(StartsWith("found no CUDA driver: tried "
                               "/no/such/folder/libcuda.so.1 (no such file)"),
                    StartsWith("the driver shows no GPU")));
  EXPECT_EQ(DetectHost({.gpus = false}).devices.size(), 1u);
}

GpuInventory WhereFails(const char* call) {
  setenv("PARTITA_STAND_IN_FAILS", call, 1);
  const GpuInventory inventory = WithoutNvml();
  unsetenv("PARTITA_STAND_IN_FAILS");
  return inventory;
}

TEST(DetectGpusTest, ADriverThatShowsNoGpuSaysWhy) {
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  const GpuInventory inventory = WhereFails("cuInit");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(inventory.gpus.empty());
  EXPECT_EQ(inventory.why_no_gpus,
            "the driver shows no GPU (cuInit: CUDA_ERROR_NO_DEVICE (100)); "
            "CUDA_VISIBLE_DEVICES=7 may hide them");
  EXPECT_EQ(WhereFails("cuDeviceGetCount").why_no_gpus,
            "the driver shows no GPU (cuDeviceGetCount: CUDA_ERROR_NO_DEVICE "
            "(100))");
}

// The others keep the numbers that plans name them by.
TEST(DetectGpusTest, AGpuThatTheDriverDoesNotDescribeEndsTheList) {
  const GpuInventory inventory = WhereFails("cuDeviceTotalMem");
  EXPECT_EQ(inventory.gpus.size(), 2u);
  EXPECT_EQ(inventory.pairs.size(), 1u);
  EXPECT_EQ(inventory.why_no_gpus, "");
  EXPECT_EQ(inventory.why_not_all,
            "the driver does not describe GPU 2 (cuDeviceTotalMem: "
            "CUDA_ERROR_NO_DEVICE (100)); it and those behind it are left out");
}

// A plan for its GPUs would not run: the host is a CPU alone.
TEST(DetectGpusTest, ADriverThatIsTooOldShowsNoGpu) {
  const auto why = [](const char* version) {
    setenv("PARTITA_STAND_IN_VERSION", version, 1);
    const GpuInventory inventory = WithoutNvml();
    unsetenv("PARTITA_STAND_IN_VERSION");
    EXPECT_TRUE(inventory.gpus.empty());
    EXPECT_EQ(HostMachine(inventory, {}).devices.size(), 1u);
    return inventory.why_no_gpus;
  };
  EXPECT_EQ(why("12079"),
            "libcuda.so.1: found a driver for CUDA 12.7; expected 12.8 or "
            "later; update NVIDIA's driver");
  EXPECT_EQ(why("0"),
            "libcuda.so.1: cuDriverGetVersion returned CUDA_ERROR_NO_DEVICE "
            "(100); expected a CUDA driver");
}

}  // namespace
}  // namespace partita
