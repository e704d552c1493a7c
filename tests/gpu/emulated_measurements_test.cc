// What is measured of GPUs, on the software GPU: bytes exactly, times as they
// come.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "graph/host_capacity.h"
#include "gtest/gtest.h"
#include "partita/profile/measure_gpus.h"
#include "placement/machine/sample_machines.h"
#include "tests/gpu/emulated_machine.h"

namespace partita {
namespace {

using emulated_gpu::EmulatedGpuOptions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kGpuMemory = 256 * kMebibyte;

Machine CpuAndTwoGpus() {
  Machine machine = CpuAndGpus(2, kGpuMemory);
  machine.devices[0].traits.isa = ThisHost().isas.front();
  for (size_t i = 1; i < machine.devices.size(); ++i) {
    machine.devices[i].traits.isa = "sm_90";
  }
  return machine;
}

EmulatedGpuOptions TwoGpus() {
  return {.gpus = 2,
          .bytes_per_gpu = kGpuMemory,
          .bytes_per_context = 10 * kMebibyte,
          .bytes_per_kernel = kMebibyte / 2};
}

TEST(EmulatedMeasurements, AReserveIsTheContextAndTheCode) {
  EmulatedMachine machine(TwoGpus());
  const Machine host = CpuAndTwoGpus();
  const auto measured = MeasureGpus(host, {});
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_THAT(measured->skipped, IsEmpty());
  EXPECT_EQ(measured->left, 0);
  ASSERT_EQ(measured->reserves.size(), 2u);
  for (const MeasuredReserve& reserve : measured->reserves) {
    EXPECT_EQ(reserve.context, 10 * kMebibyte);
    // One to three kernels, and the rest of the block that the arena is in.
    EXPECT_GE(reserve.code, reserve.context + kMebibyte / 2);
    EXPECT_LE(reserve.code, reserve.context + 7 * kMebibyte / 2);
  }
  Machine written = host;
  UseMeasurements(*measured, written);
  EXPECT_EQ(written.devices[0].reserve, host.devices[0].reserve);
  EXPECT_GE(written.devices[1].reserve, measured->reserves[0].code);
  EXPECT_EQ(written.devices[1].reserve % kMebibyte, 0);
  EXPECT_LE(written.devices[1].reserve, 14 * kMebibyte);
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

// Peers, and GPUs that are none.
TEST(EmulatedMeasurements, EachLinkOfAGpuIsMeasured) {
  for (const bool peers : {true, false}) {
    EmulatedGpuOptions options = TwoGpus();
    if (peers) options.peers = emulated_gpu::AllPeers(2);
    EmulatedMachine machine(options);
    const Machine host = CpuAndTwoGpus();
    const auto measured = MeasureGpus(host, {});
    ASSERT_TRUE(measured.ok()) << measured.status();
    std::vector<std::string> links;
    for (const MeasuredLink& link : measured->links) {
      links.push_back(link.from + " " + link.to);
      EXPECT_GT(link.bandwidth, 0);
      EXPECT_GE(link.latency, 0);
    }
    // A link whose times are out of range on a busy host is skipped, and said.
    EXPECT_EQ(links.size() + measured->skipped.size(), 3u);
    Machine written = host;
    UseMeasurements(*measured, written);
    EXPECT_TRUE(ParseMachine(MachineToJson(written), "written").ok());
    EXPECT_THAT(machine.Faults(), IsEmpty());
  }
}

// Two reserves and three links; the time is over before the first.
TEST(EmulatedMeasurements, ABudgetEndsTheMeasurements) {
  EmulatedMachine machine(TwoGpus());
  std::vector<std::string> begun;
  MeasureOptions options;
  options.seconds = 1e-9;
  options.progress = [&](absl::string_view what) { begun.emplace_back(what); };
  const auto measured = MeasureGpus(CpuAndTwoGpus(), options);
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_EQ(measured->left, 5);
  EXPECT_THAT(begun, IsEmpty());
  options.seconds = 0;
  EXPECT_EQ(MeasureGpus(CpuAndTwoGpus(), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(EmulatedMeasurements, ProgressNamesWhatIsMeasured) {
  EmulatedMachine machine(TwoGpus());
  std::vector<std::string> begun;
  MeasureOptions options;
  options.progress = [&](absl::string_view what) { begun.emplace_back(what); };
  ASSERT_TRUE(MeasureGpus(CpuAndTwoGpus(), options).ok());
  EXPECT_THAT(begun, ElementsAre("reserve of gpu:0", "reserve of gpu:1",
                                 "link cpu:0 - gpu:0", "link cpu:0 - gpu:1",
                                 "link gpu:0 - gpu:1"));
}

TEST(EmulatedMeasurements, AMachineWithoutGpusHasNothingToMeasure) {
  EmulatedMachine machine({.gpus = 0});
  const absl::Status status = MeasureGpus(CpuAndTwoGpus(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("found no usable GPU (cuInit: CUDA_ERROR_NO_DEVICE"));
}

// A GPU that is missing does not keep others from being measured.
TEST(EmulatedMeasurements, WhatIsNotHereIsSkippedWithItsReason) {
  EmulatedGpuOptions options = TwoGpus();
  options.gpus = 1;
  EmulatedMachine machine(options);
  const auto measured = MeasureGpus(CpuAndTwoGpus(), {});
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_EQ(measured->reserves.size(), 1u);
  EXPECT_THAT(
      measured->skipped,
      testing::IsSupersetOf({"reserve of gpu:1: device gpu:1 is not here",
                             "link gpu:0 - gpu:1: device gpu:1 is not here"}));
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

}  // namespace
}  // namespace partita
