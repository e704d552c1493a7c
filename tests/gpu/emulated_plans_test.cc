// Plans on emulated GPUs: equal bits under every schedule, and no finding.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/evaluate.h"
#include "gtest/gtest.h"
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

// Copies go by way of page-locked memory: two nodes of the graph.
TEST(EmulatedPlans, GpusNeedNotBePeers) {
  const PtxPlan plan = MatmulSoftmaxPlan(2);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ExpectReferenceBits(plan,
                        {.gpus = 2, .seed = seed, .order = OrderOf(seed)});
  }
  for (const auto& [name, readings] : AllReadings()) {
    SCOPED_TRACE(name);
    ExpectReferenceBits(plan, {.gpus = 2, .seed = 3, .readings = readings});
  }
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

// The output of CpuAndGpuPlan is fetched by the stream that copies to the GPU.
// The GPU runs it, but what it fetches is in the CPU's memory.
PtxPlan PlanWithAFetchBesideCopies() {
  PtxPlan plan = CpuAndGpuPlan();
  Entry& entry = plan.plan->entries[0];
  std::vector<Command>& commands = entry.programs[0].commands;
  Command fetch = commands.back();
  commands.pop_back();
  const auto copies = absl::c_find_if(entry.streams, [](const Stream& stream) {
    return stream.name == "copy:gpu:1";
  });
  Command record;
  record.kind = Command::Kind::kRecord;
  record.stream = fetch.stream;
  record.event = EventId(entry.num_events++);
  fetch.stream = StreamId(static_cast<int32_t>(copies - entry.streams.begin()));
  Command wait = record;
  wait.kind = Command::Kind::kWait;
  wait.stream = fetch.stream;
  for (const Command& last : {record, wait, fetch}) commands.push_back(last);
  return plan;
}

TEST(EmulatedPlans, AStreamThatCopiesToAGpuFetchesFromItsCpu) {
  const PtxPlan plan = PlanWithAFetchBesideCopies();
  for (uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    ExpectExchange(plan, {.seed = seed, .order = OrderOf(seed)});
  }
}

// The copies from and to the CPU's memory are issued between graphs.
TEST(EmulatedPlans, CopiesFromAndToACpuDivideTheStep) {
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
