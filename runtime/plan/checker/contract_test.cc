// Tests the messages for a plan on another host than its target.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/contract.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

constexpr char kMadeForAnother[] =
    "plan @f is for another machine than this host; let this host emulate its "
    "devices (--virtual), or compile the model for this host";

// Two CPUs of 2 threads and 200 bytes each: 100 persistent bytes and two steps.
Plan TwoCpus() {
  Plan plan;
  plan.name = "f";
  for (const char* name : {"cpu:0", "cpu:1"}) {
    PlanDevice& device = plan.devices.emplace_back();
    device.traits.name = name;
    device.traits.isa = "avx2";
    device.traits.threads = 2;
    device.persistent_bytes = 100;
    device.step_bytes = 50;
  }
  plan.entries.resize(1);
  plan.entries[0].depth = 2;
  return plan;
}

// Of a build that runs CPUs only.
absl::Status Check(const Plan& plan, const HostCapacity& host) {
  return CheckContract(plan, host, {DeviceKind::kCpu});
}

HostCapacity JustEnough() { return {4, 400, {"avx512", "avx2", "sse4"}}; }

TEST(Contract, AHostThatHasAllOfItWillDo) {
  EXPECT_TRUE(Check(TwoCpus(), JustEnough()).ok());
}

TEST(Contract, RatesAreNotCompared) {
  Plan plan = TwoCpus();
  plan.devices[0].traits.memory_bandwidth = 1e30;
  EXPECT_TRUE(Check(plan, JustEnough()).ok());
}

TEST(Contract, TheCpusShareTheThreads) {
  HostCapacity host = JustEnough();
  host.threads = 3;
  const absl::Status status = Check(TwoCpus(), host);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            absl::StrCat(kMadeForAnother,
                         "\n  cpu:0 and cpu:1: found a plan for 4 threads; "
                         "expected at most the 3 that this process may use"));
}

TEST(Contract, TheCpusShareTheMemory) {
  HostCapacity host = JustEnough();
  host.memory = 399;
  const absl::Status status = Check(TwoCpus(), host);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      status.message(),
      absl::StrCat(kMadeForAnother,
                   "\n  cpu:0 and cpu:1: found arenas of 400 bytes; expected "
                   "at most the 399 bytes that this process may use"));
}

TEST(Contract, ArenasBeyondAllNumbersAreTooLarge) {
  Plan plan = TwoCpus();
  plan.devices[0].step_bytes = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Check(plan, JustEnough()).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Contract, EveryDifferenceIsNamed) {
  Plan plan = TwoCpus();
  plan.devices[0].traits.isa = "avx512";
  plan.devices[1].traits.kind = DeviceKind::kCuda;
  plan.devices[1].traits.name = "gpu:0";
  const absl::Status status = Check(plan, {1, 400, {"avx2", "sse4"}});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            absl::StrCat(kMadeForAnother,
                         "\n  cpu:0: found a plan for the instruction set "
                         "avx512; expected one that this processor has: avx2, "
                         "sse4"
                         "\n  gpu:0: found kind cuda; expected cpu, as this "
                         "build drives no other"
                         "\n  cpu:0: found a plan for 2 threads; expected at "
                         "most the 1 that this process may use"));
}

TEST(Contract, EveryKindThatTheBuildRunsIsNamed) {
  Plan plan = TwoCpus();
  plan.devices[1].traits.kind = DeviceKind::kCuda;
  const DeviceKind all[] = {DeviceKind::kCpu, DeviceKind::kCuda};
  EXPECT_TRUE(CheckContract(plan, JustEnough(), all).ok());
  plan.devices[1].traits.kind = static_cast<DeviceKind>(kNumDeviceKinds);
  EXPECT_EQ(CheckContract(plan, JustEnough(), all).message(),
            absl::StrCat(kMadeForAnother,
                         "\n  cpu:1: found kind unknown; expected cpu or "
                         "cuda, as this build drives no other"));
}

// The second CPU is a GPU, with such a kernel for each of two nodes.
Plan CpuAndGpu(const KernelId& kernel) {
  Plan plan = TwoCpus();
  plan.devices[1].traits.kind = DeviceKind::kCuda;
  plan.devices[1].traits.name = "gpu:0";
  Graph& graph = plan.module.AddFunction("f");
  const ValueId x = graph.AddInput("x", {DType::kF32, {4}, {}});
  for (const char* name : {"y", "z"}) {
    NodeSpec spec{.op = &kRelu, .operands = {x}, .result_names = {name}};
    spec.placement.devices = {"gpu:0"};
    graph.node(*graph.AddNode(std::move(spec))).kernel =
        KernelBinding{.kernel = kernel};
  }
  return plan;
}

TEST(Contract, ADeviceNeedsKernelsWithCode) {
  const DeviceKind all[] = {DeviceKind::kCpu, DeviceKind::kCuda};
  EXPECT_TRUE(
      CheckContract(CpuAndGpu("ptx.elementwise"), JustEnough(), all).ok());
  const absl::Status status =
      CheckContract(CpuAndGpu("cost_only.elementwise"), JustEnough(), all);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            absl::StrCat(kMadeForAnother,
                         "\n  gpu:0: found 2 kernels that have costs and no "
                         "code, the first one for relu %y; expected kernels "
                         "that are generated for its instruction set; give it "
                         "an isa from sm_80 on in the machine file and compile "
                         "again"));
}

TEST(Contract, AProcessorThatIsNotKnownHasNoInstructionSet) {
  HostCapacity host = JustEnough();
  host.isas.clear();
  EXPECT_EQ(Check(TwoCpus(), host).message(),
            absl::StrCat(kMadeForAnother,
                         "\n  cpu:0: found a plan for the instruction set "
                         "avx2; expected any, as this processor's are not "
                         "known"
                         "\n  cpu:1: found a plan for the instruction set "
                         "avx2; expected any, as this processor's are not "
                         "known"));
}

}  // namespace
}  // namespace partita
