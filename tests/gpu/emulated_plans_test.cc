// Plans on emulated GPUs: equal bits under every schedule, and no finding.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/core_ops.h"
#include "graph/evaluate.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/reference_run.h"
#include "tests/gpu/emulated_machine.h"

namespace partita {
namespace {

using emulated_gpu::AllPeers;
using emulated_gpu::AllReadings;
using emulated_gpu::EmulatedGpuOptions;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::IsEmpty;
using ::testing::Pointwise;

std::vector<float> FloatsOf(const HostTensor& tensor) {
  const absl::Span<const float> floats = tensor.data<float>();
  return {floats.begin(), floats.end()};
}

std::vector<float> Evaluated(const PtxPlan& plan) {
  const Graph& graph = *plan.plan->entries[0].graph;
  const std::vector<HostTensor> inputs = [&] {
    std::vector<HostTensor> all;
    all.push_back(HostTensor::Of<float>({16, 24}, plan.x));
    return all;
  }();
  return FloatsOf((*Evaluate(graph, inputs))[0]);
}

// Runs three steps and the reference on a machine of its own.
void ExpectReferenceBits(const PtxPlan& plan,
                         const EmulatedGpuOptions& options) {
  EmulatedMachine machine(options);
  {
    const PlanLibraries libraries;
    auto devices = DevicesOf(*plan.plan, machine.api());
    ASSERT_TRUE(devices.ok()) << devices.status();
    auto executor =
        Executor::New(plan.plan, *std::move(devices), libraries.all);
    ASSERT_TRUE(executor.ok()) << executor.status();
    const void* in = plan.x.data();
    const auto reference = ReferenceRun(*plan.plan, 0, {&in, 1}, libraries.all,
                                        {.devices = (*executor)->devices()});
    ASSERT_TRUE(reference.ok()) << reference.status();
    const std::vector<float> expected = FloatsOf((*reference)[0]);
    EXPECT_THAT(expected, Pointwise(FloatNear(1e-5f), Evaluated(plan)));
    for (int step = 0; step < 3; ++step) {
      const auto y = RunStep(**executor, plan.x);
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_THAT(*y, ElementsAreArray(expected)) << "step " << step;
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedPlans, OneGpuHasTheBitsOfTheReference) {
  const PtxPlan plan = MatmulSoftmaxPlan(1);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ExpectReferenceBits(plan, {.seed = seed, .order = OrderOf(seed)});
  }
}

TEST(EmulatedPlans, TwoGpusHaveTheBitsOfTheReference) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ExpectReferenceBits(plan, {.gpus = 2,
                               .peers = AllPeers(2),
                               .seed = seed,
                               .order = OrderOf(seed)});
  }
}

TEST(EmulatedPlans, TwoGpusHaveThemHoweverDoubtsAreRead) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  for (const auto& [name, readings] : AllReadings()) {
    SCOPED_TRACE(name);
    for (uint64_t seed = 0; seed < 2; ++seed) {
      ExpectReferenceBits(plan, {.gpus = 2,
                                 .peers = AllPeers(2),
                                 .seed = seed,
                                 .readings = readings});
    }
  }
}

TEST(EmulatedPlans, MessagesPassBetweenGpus) {
  for (const int capacity : {0, 1}) {
    const PtxPlan plan = MatmulSoftmaxPlan(2, capacity);
    for (uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(absl::StrCat("capacity ", capacity, ", seed ", seed));
      ExpectReferenceBits(plan, {.gpus = 2,
                                 .peers = AllPeers(2),
                                 .seed = seed,
                                 .order = OrderOf(seed)});
    }
  }
}

// The driver stages the copies through the host.
TEST(EmulatedPlans, GpusNeedNotBePeers) {
  ExpectReferenceBits(MatmulSoftmaxPlan(2), {.gpus = 2, .seed = 3});
}

TEST(EmulatedPlans, DelaysAndTracesChangeNoBit) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  EmulatedMachine machine({.gpus = 2, .peers = AllPeers(2)});
  {
    const PlanLibraries libraries;
    auto devices = DevicesOf(*plan.plan, machine.api());
    ASSERT_TRUE(devices.ok()) << devices.status();
    auto executor =
        Executor::New(plan.plan, *std::move(devices), libraries.all);
    ASSERT_TRUE(executor.ok()) << executor.status();
    const auto y = RunStep(**executor, plan.x);
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_EQ(*RunStep(**executor, plan.x, {.chaos_seed = 7}), *y);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(*RunStep(**executor, plan.x, {.trace = true}), *y);
      for (const MeasuredCommand& command : (*executor)->LastTrace()) {
        EXPECT_GE(command.start_seconds, 0) << command.command;
        EXPECT_GE(command.end_seconds, command.start_seconds)
            << command.command;
      }
    }
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

// y = relu(x) on the GPU, where x is the result of a kernel of the CPU.
PtxPlan CpuAndGpuPlan() {
  PtxPlan plan = MatmulSoftmaxPlan(1);  // for its code of relu
  PlanBuilder b(2, DeviceKind::kCuda);
  PlanDevice& cpu = b.plan().devices[0];
  cpu.traits.name = "cpu:0";
  cpu.traits.kind = DeviceKind::kCpu;
  b.plan().devices[1].traits.isa = "sm_90";
  const ValueId x = b.Input("x", {DType::kF32, {16, 20}, {}});
  const ValueId twice = b.Node(kAdd, {x, x}, "twice");
  const ValueId there = b.Node(kCopy, {twice}, "there");
  const ValueId positive = b.Node(kRelu, {there}, "positive");
  const ValueId back = b.Node(kCopy, {positive}, "back");
  const ValueId y = b.Node(kAdd, {back, back}, "y");
  b.Output("y", y);
  b.graph().node(b.graph().value(positive).defining_node).kernel->kernel =
      "ptx.elementwise";
  const StreamId compute = b.NewStream("compute", 0);
  const StreamId to_gpu = b.NewStream("copy:gpu:1", 0);
  const StreamId on_gpu = b.NewStream("compute", 1);
  const StreamId to_cpu = b.NewStream("copy:cpu:0", 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId twice0 = b.Room("twice", 0, twice);
  const BufferId there1 = b.Room("there", 1, there);
  const BufferId back0 = b.Room("back", 0, back);
  const BufferId y0 = b.Room("y", 0, y);
  const EventId doubled = b.NewEvent();
  const EventId copied = b.NewEvent();
  const EventId computed = b.NewEvent();
  const EventId returned = b.NewEvent();
  b.Feed(compute, 0, x0);
  b.Kernel(compute, twice, {x0, x0}, twice0);
  b.Record(compute, doubled);
  b.Wait(to_gpu, doubled);
  b.Copy(to_gpu, twice0, there1);
  b.Record(to_gpu, copied);
  b.Wait(on_gpu, copied);
  b.Kernel(on_gpu, positive, {there1}, there1);
  b.Record(on_gpu, computed);
  b.Wait(to_cpu, computed);
  b.Copy(to_cpu, there1, back0);
  b.Record(to_cpu, returned);
  b.Wait(compute, returned);
  b.Kernel(compute, y, {back0, back0}, y0);
  b.Fetch(compute, 0, y0);
  plan.plan = b.Finish();
  plan.x.resize(16 * 20);
  return plan;
}

void ExpectExchange(const PtxPlan& plan, const EmulatedGpuOptions& options) {
  EmulatedMachine machine(options);
  const PlanLibraries libraries;
  const auto y = RunOnce(plan, libraries, machine.api());
  ASSERT_TRUE(y.ok()) << y.status();
  for (size_t i = 0; i < y->size(); ++i) {
    ASSERT_EQ((*y)[i], 2 * std::max(2 * plan.x[i], 0.0f)) << i;
  }
  EXPECT_THAT(machine.Faults(), IsEmpty());
}

TEST(EmulatedPlans, ACpuAndAGpuExchangeValues) {
  const PtxPlan plan = CpuAndGpuPlan();
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ExpectExchange(plan, {.seed = seed, .order = OrderOf(seed)});
  }
  for (const auto& [name, readings] : AllReadings()) {
    SCOPED_TRACE(name);
    ExpectExchange(plan, {.readings = readings});
  }
}

// The copies from and to the CPU's memory are issued between graphs.
TEST(EmulatedPlans, WhatIsExchangedWithACpuDividesTheStep) {
  const PtxPlan plan = CpuAndGpuPlan();
  EmulatedMachine machine({});
  const PlanLibraries libraries;
  auto devices = DevicesOf(*plan.plan, machine.api());
  ASSERT_TRUE(devices.ok()) << devices.status();
  const auto executor =
      Executor::New(plan.plan, *std::move(devices), libraries.all);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const std::vector<StepLaunches> launches = (*executor)->Launches();
  ASSERT_EQ(launches.size(), 1);
  EXPECT_EQ(launches[0].graphs, 1);
  EXPECT_EQ(launches[0].in_graphs, 1);
  EXPECT_EQ(launches[0].issued, 2);
}

}  // namespace
}  // namespace partita
