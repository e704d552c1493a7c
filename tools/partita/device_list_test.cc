// The list of a machine of four GPUs, in words and as JSON.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/device_list.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "placement/machine/detect_host.h"

namespace partita {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

DetectedGpu Gpu(int number) {
  DetectedGpu gpu;
  gpu.device.traits.name = absl::StrCat("gpu:", number);
  gpu.device.traits.kind = DeviceKind::kCuda;
  gpu.device.traits.isa = "sm_90";
  gpu.device.traits.memory_bandwidth = 1e12;
  gpu.device.memory = int64_t{80} << 30;
  gpu.device.reserve = int64_t{1} << 30;
  gpu.model = "A GPU";
  gpu.pci_address = absl::StrCat("0000:1", number, ":00.0");
  gpu.capability_major = 9;
  return gpu;
}

DeviceList ListOf(GpuInventory gpus, GpuSplit split = {}) {
  DeviceList list = {.gpus = std::move(gpus), .split = split};
  list.machine = HostMachine(list.gpus, split);
  list.machine.name = "here";
  return list;
}

// NVLink with and without a number of links, PCIe, and none.
GpuInventory FourGpus() {
  GpuInventory gpus;
  for (int i = 0; i < 4; ++i) gpus.gpus.push_back(Gpu(i));
  for (int one = 0; one < 4; ++one) {
    for (int two = one + 1; two < 4; ++two) {
      gpus.pairs.push_back({.one = one, .two = two});
    }
  }
  gpus.pairs[0].route = gpus.pairs[1].route = GpuRoute::kNvlink;
  gpus.pairs[0].nvlinks = 18;
  gpus.pairs[0].native_atomics = gpus.pairs[1].native_atomics = true;
  gpus.pairs[3].route = GpuRoute::kPcie;
  gpus.pairs[3].performance_rank = 1;
  return gpus;
}

std::vector<std::string> LinesOf(const DeviceList& list) {
  return absl::StrSplit(DeviceListText(list), '\n');
}

TEST(DeviceList, GpusHaveNamesMemoryCapabilityAndAddress) {
  EXPECT_THAT(LinesOf(ListOf(FourGpus())),
              Contains("  gpu:1  A GPU, 80.0 GiB, compute capability 9.0, PCIe "
                       "0000:11:00.0"));
}

TEST(DeviceList, AGpuThatNoPlanRunsOnSaysSo) {
  GpuInventory gpus;
  gpus.gpus = {Gpu(0), Gpu(1)};
  gpus.pairs = {{.one = 0, .two = 1}};
  gpus.gpus[0].device.traits.isa = "sm_75";
  gpus.gpus[0].capability_major = 7;
  gpus.gpus[0].capability_minor = 5;
  const DeviceList list = ListOf(gpus);
  const auto lines = LinesOf(list);
  EXPECT_THAT(lines,
              Contains("  gpu:0  A GPU, 80.0 GiB, compute capability 7.5, PCIe "
                       "0000:10:00.0; no plan runs on it: expected 8.0 or "
                       "later"));
  EXPECT_THAT(lines, Not(Contains("  gpu:0  reserve 1.0 GiB, from tables")));
  EXPECT_THAT(lines, Contains("  gpu:1  reserve 1.0 GiB, from tables"));
  const Json json = Json::parse(DeviceListJson(list));
  EXPECT_EQ(json["gpus"][0]["runs_plans"], false);
  EXPECT_EQ(json["gpus"][1]["runs_plans"], true);
}

TEST(DeviceList, EachTwoGpusHaveARoute) {
  const auto lines = LinesOf(ListOf(FourGpus()));
  EXPECT_THAT(lines,
              Contains("  gpu:0 - gpu:1  NVLink, 18 links, performance rank 0, "
                       "native atomics"));
  EXPECT_THAT(lines,
              Contains("  gpu:0 - gpu:2  NVLink, number of links unknown, "
                       "performance rank 0, native atomics"));
  EXPECT_THAT(
      lines,
      Contains("  gpu:1 - gpu:2  PCIe, peer access, performance rank 1"));
  EXPECT_THAT(lines,
              Contains("  gpu:2 - gpu:3  no peer access: copies go through the "
                       "host's memory"));
}

TEST(DeviceList, WhatIsMissingIsSaid) {
  GpuInventory none;
  none.why_no_gpus = "found no CUDA driver: tried this";
  EXPECT_THAT(DeviceListText(ListOf(none)),
              EndsWith("no GPU: found no CUDA driver: tried this\n"));
  GpuInventory gpus = FourGpus();
  gpus.why_not_all = "the driver does not describe GPU 4";
  gpus.gpus[0].model.clear();
  EXPECT_THAT(
      LinesOf(ListOf(gpus)),
      AllOf(Contains("not all GPUs: the driver does not describe GPU 4"),
            Contains(HasSubstr("  gpu:0  name unknown, 80.0 GiB"))));
  EXPECT_EQ(Json::parse(DeviceListJson(ListOf(gpus)))["not_all_gpus"],
            "the driver does not describe GPU 4");
  gpus.why_no_nvlinks = "found no NVML: tried that";
  EXPECT_THAT(LinesOf(ListOf(gpus)),
              Contains("NVLinks are not counted: found no NVML: tried that"));
}

TEST(DeviceList, SharesOfAGpuHaveItsLine) {
  GpuInventory gpus;
  gpus.gpus = {Gpu(0), Gpu(1)};
  gpus.pairs = {{.one = 0, .two = 1, .route = GpuRoute::kPcie}};
  const auto lines = LinesOf(ListOf(gpus, {.shares = 2}));
  EXPECT_THAT(lines, Contains(HasSubstr("  gpu:2 to gpu:3  A GPU, 80.0 GiB")));
  EXPECT_THAT(lines, Contains(HasSubstr("  gpu:0 to gpu:1 - gpu:2 to gpu:3  "
                                        "PCIe, peer access")));
}

TEST(DeviceList, MeasuredFiguresAreMarked) {
  GpuInventory gpus;
  gpus.gpus = {Gpu(0)};
  DeviceList list = ListOf(gpus);
  EXPECT_THAT(LinesOf(list), Contains("  gpu:0  reserve 1.0 GiB, from tables"));
  EXPECT_THAT(LinesOf(list),
              Contains("  cpu:0 - gpu:0  24.0 GB/s, 10.0 us, from tables"));
  list.measured = GpuMeasurements{
      .reserves = {{"gpu:0", int64_t{500} << 20, int64_t{600} << 20}},
      .links = {{"gpu:0", "cpu:0", 5e10, 2e-5}},
      .left = 2,
      .skipped = {"link gpu:0 - gpu:1: a reason"}};
  UseMeasurements(*list.measured, list.machine);
  const auto lines = LinesOf(list);
  EXPECT_THAT(lines, Contains("  gpu:0  reserve 600.0 MiB, measured: 500.0 MiB "
                              "in use with a context, 600.0 MiB with code"));
  EXPECT_THAT(lines, Contains("  cpu:0 - gpu:0  50.0 GB/s, 20.0 us, measured"));
  EXPECT_THAT(lines, Contains("left, as the time was over: 2 measurements; a "
                              "larger --time-budget measures them"));
  EXPECT_THAT(lines, Contains("not measured: link gpu:0 - gpu:1: a reason"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("from tables"))));
}

TEST(DeviceList, JsonHasTheSame) {
  const Json json = Json::parse(DeviceListJson(ListOf(FourGpus())));
  EXPECT_EQ(json["host"], "here");
  EXPECT_EQ(json["gpus"][1]["pci_address"], "0000:11:00.0");
  EXPECT_EQ(json["gpus"][1]["memory"], int64_t{80} << 30);
  EXPECT_EQ(json["gpus"][1]["devices"], Json({"gpu:1"}));
  EXPECT_EQ(json["gpus"][1]["compute_capability"], "9.0");
  const Json& routes = json["routes"];
  EXPECT_EQ(routes[0]["route"], "nvlink");
  EXPECT_EQ(routes[0]["nvlinks"], 18);
  EXPECT_TRUE(routes[1]["nvlinks"].is_null());
  EXPECT_EQ(routes[3]["route"], "pcie");
  EXPECT_EQ(routes[3]["nvlinks"], 0);
  EXPECT_EQ(routes[5]["route"], "host");
  EXPECT_FALSE(routes[5].contains("nvlinks"));
  EXPECT_EQ(json["devices"][0]["kind"], "cpu");
  EXPECT_EQ(json["links"][0]["measured"], false);
  EXPECT_EQ(json["no_gpus"], "");
}

}  // namespace
}  // namespace partita
