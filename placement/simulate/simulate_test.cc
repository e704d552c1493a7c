// Tests the simulator on hand-written plans, with times computed by hand.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/simulate.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/command_cost.h"
#include "placement/simulate/memory_curve.h"
#include "placement/simulate/predicted_timeline.h"
#include "placement/simulate/testing/plan_writer.h"

namespace partita {
namespace {

// Every link: 1e10 bytes per second, no latency.
constexpr int64_t kSecond = 10'000'000'000;  // bytes per second of a link

#define EXPECT_TIMES(simulated, from, to)         \
  do {                                            \
    EXPECT_NEAR((simulated).start, (from), 1e-9); \
    EXPECT_NEAR((simulated).end, (to), 1e-9);     \
  } while (false)

TEST(SimulateTest, AStreamRunsItsCommandsOneAfterAnother) {
  const Machine machine = EqualCpus(1, 1000);
  PlanWriter p(machine);
  const StreamId s = p.Stream(0);
  p.Kernel(s, 1);
  p.Kernel(s, 2);
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 1);
  EXPECT_TIMES(result->commands[CommandId(1)], 1, 3);
  EXPECT_EQ(result->latency_seconds, 3);
  EXPECT_EQ(result->step_seconds, 3);
  EXPECT_EQ(result->busy, std::vector<double>({3}));
  EXPECT_EQ(result->critical_path, CommandIds({0, 1}));
}

TEST(SimulateTest, AWaitHoldsItsStreamUntilTheRecord) {
  const Machine machine = EqualCpus(2, 1000);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  p.Kernel(a, 2);    // 0
  p.Record(a, 0);    // 1
  p.Kernel(a, 10);   // 2
  p.Kernel(b, 0.5);  // 3
  p.Wait(b, 0);      // 4
  p.Kernel(b, 1);    // 5
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(4)], 0.5, 2);
  EXPECT_EQ(result->commands[CommandId(4)].cause, CommandId(1));
  EXPECT_TIMES(result->commands[CommandId(5)], 2, 3);
  EXPECT_EQ(result->latency_seconds, 12);
  EXPECT_EQ(result->critical_path, CommandIds({0, 1, 2}));
}

TEST(SimulateTest, AWaitForWhatIsRecordedCostsNothing) {
  const Machine machine = EqualCpus(2, 1000);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  p.Kernel(a, 1);
  p.Record(a, 0);
  p.Kernel(b, 3);  // 2
  p.Wait(b, 0);    // 3
  p.Kernel(b, 1);  // 4
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(3)], 3, 3);
  EXPECT_EQ(result->critical_path, CommandIds({2, 3, 4}));
}

TEST(SimulateTest, CopiesRunBesideKernels) {
  Machine machine = EqualCpus(2, 1000);
  machine.links[0].latency = 0.25;
  PlanWriter p(machine);
  const StreamId compute = p.Stream(0), copy = p.Stream(0);
  const BufferId from = p.Buffer(0, kSecond), to = p.Buffer(1, kSecond);
  p.Copy(copy, from, to);
  p.Kernel(compute, 1);
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 1.25);
  EXPECT_TIMES(result->commands[CommandId(1)], 0, 1);
  EXPECT_EQ(result->busy, std::vector<double>({1, 0}));
}

TEST(SimulateTest, ADeviceRunsOneKernelAtATime) {
  const Machine machine = EqualCpus(1, 1000);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(0);
  p.Kernel(b, 2);  // 0: first in launch order
  p.Kernel(a, 1);  // 1
  p.Kernel(a, 1);  // 2
  p.Kernel(b, 1);  // 3
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 2);
  EXPECT_TIMES(result->commands[CommandId(1)], 2, 3);  // became ready first
  EXPECT_TIMES(result->commands[CommandId(3)], 3, 4);
  EXPECT_TIMES(result->commands[CommandId(2)], 4, 5);
  EXPECT_EQ(result->critical_path, CommandIds({0, 1, 3, 2}));
}

TEST(SimulateTest, SecondsWithoutAnOrderAreRefused) {
  const Machine machine = EqualCpus(1, 1000);
  for (const double seconds : {std::nan(""), -1.0, 1.7e308, HUGE_VAL}) {
    PlanWriter p(machine);
    const StreamId s = p.Stream(0);
    p.Kernel(s, 1);
    p.Kernel(s, seconds);
    const absl::Status status = p.Run().status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << seconds;
    EXPECT_TRUE(absl::StrContains(status.message(), "found a kernel of "))
        << status;
  }
}

TEST(SimulateTest, ALinkWithoutBandwidthIsRefused) {
  Machine machine = EqualCpus(2, 1000);
  machine.links[0].bandwidth = 1e-300;
  PlanWriter p(machine);
  p.Copy(p.Stream(0), p.Buffer(0, kSecond), p.Buffer(1, kSecond));
  const absl::Status status = p.Run().status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST(SimulateTest, TransfersOfOneDirectionShareTheirLink) {
  const Machine machine = EqualCpus(2, 1000);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(0);
  const BufferId from = p.Buffer(0, kSecond), to = p.Buffer(1, kSecond);
  const BufferId half = p.Buffer(0, kSecond / 2);
  const BufferId half_to = p.Buffer(1, kSecond / 2);
  p.Copy(a, from, to);
  p.Copy(b, half, half_to);
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  // Both run at half speed until the short one ends at 1; then 0.5 s are left.
  EXPECT_TIMES(result->commands[CommandId(1)], 0, 1);
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 1.5);
}

TEST(SimulateTest, OppositeDirectionsShareOnlyWithoutDuplex) {
  Machine machine = EqualCpus(2, 1000);
  for (bool duplex : {true, false}) {
    machine.links[0].duplex = duplex;
    PlanWriter p(machine);
    const StreamId a = p.Stream(0), b = p.Stream(1);
    const BufferId x = p.Buffer(0, kSecond), y = p.Buffer(1, kSecond);
    p.Copy(a, x, y);
    p.Copy(b, y, x);
    const absl::StatusOr<Simulation> result = p.Run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->latency_seconds, duplex ? 1 : 2, 1e-9);
  }
}

TEST(SimulateTest, LinksOfOneBusShareIt) {
  Machine machine = CpuAndGpus(2, 1000);
  machine.links[0].bus = machine.links[1].bus = "pcie";  // cpu:0 to each
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(0), c = p.Stream(1);
  const BufferId x = p.Buffer(0, kSecond), y = p.Buffer(1, kSecond);
  const BufferId z = p.Buffer(2, kSecond);
  p.Copy(a, x, y);
  p.Copy(b, x, z);
  p.Copy(c, y, z);  // over its own link
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 2);
  EXPECT_TIMES(result->commands[CommandId(1)], 0, 2);
  EXPECT_TIMES(result->commands[CommandId(2)], 0, 1);
}

TEST(SimulateTest, StepsThatOverlapRunAtThePaceOfTheSlowestStage) {
  const Machine machine = EqualCpus(2, 1000);
  for (int depth : {1, 2, 3}) {
    PlanWriter p(machine);
    const StreamId a = p.Stream(0), b = p.Stream(1);
    p.Kernel(a, 2);
    p.Record(a, 0);
    p.Wait(b, 0);
    p.Kernel(b, 3);
    p.entry().depth = depth;
    const absl::StatusOr<Simulation> result = p.Run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->latency_seconds, 5, 1e-9);
    EXPECT_NEAR(result->step_seconds, depth == 1 ? 5 : 3, 1e-9);
  }
}

// The executor's launcher begins a step of GPUs when the step before has ended
// on all of them.
TEST(SimulateTest, StepsOfGpusRunOneAfterTheOther) {
  const Machine machine = CpuAndGpus(2, 1000);
  for (int depth : {1, 2, 3}) {
    PlanWriter p(machine);
    const StreamId a = p.Stream(1), b = p.Stream(2);
    p.Kernel(a, 2);
    p.Record(a, 0);
    p.Wait(b, 0);
    p.Kernel(b, 3);
    p.entry().depth = depth;
    const absl::StatusOr<Simulation> result = p.Run();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_NEAR(result->latency_seconds, 5, 1e-9);
    EXPECT_NEAR(result->step_seconds, 5, 1e-9) << depth;
  }
}

TEST(SimulateTest, ACpuRunsItsNextStepBesideAGpu) {
  const Machine machine = CpuAndGpus(1, 1000);
  PlanWriter p(machine);
  const StreamId cpu = p.Stream(0), gpu = p.Stream(1);
  p.Kernel(cpu, 2);
  p.Record(cpu, 0);
  p.Wait(gpu, 0);
  p.Kernel(gpu, 3);
  p.entry().depth = 2;
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->step_seconds, 3, 1e-9);
}

// A GPU runs the CPU's stream that copies to it, one second, and its kernel of
// three.
TEST(SimulateTest, AStreamThatCopiesToAGpuIsOneOfTheGpus) {
  const Machine machine = CpuAndGpus(1, 1000);
  PlanWriter p(machine);
  const StreamId cpu = p.Stream(0), copies = p.Stream(0), gpu = p.Stream(1);
  const BufferId here = p.Buffer(0, kSecond), there = p.Buffer(1, kSecond);
  p.Kernel(cpu, 2, {}, {here});
  p.Record(cpu, 0);
  p.Wait(copies, 0);
  p.Copy(copies, here, there);
  p.Record(copies, 1);
  p.Wait(gpu, 1);
  p.Kernel(gpu, 3, {there});
  p.entry().depth = 2;
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->step_seconds, 4, 1e-9);
}

TEST(SimulateTest, FeedsOfAGpuTakeTheHostsLink) {
  const Machine machine = CpuAndGpus(1, 1000);
  PlanWriter p(machine);
  const StreamId gpu = p.Stream(1), cpu = p.Stream(0);
  const BufferId there = p.Buffer(1, kSecond), here = p.Buffer(0, kSecond);
  for (auto [stream, buffer] : {std::pair(gpu, there), std::pair(cpu, here)}) {
    Command feed;
    feed.kind = Command::Kind::kFeed;
    feed.stream = stream;
    feed.results = {buffer};
    feed.port = 0;
    p.entry().programs[0].commands.push_back(feed);
  }
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TIMES(result->commands[CommandId(0)], 0, 1);
  EXPECT_TIMES(result->commands[CommandId(1)], 0,
               0.2);  // twice 1e10 bytes at 1e11
}

TEST(SimulateTest, AGpuWithoutALinkToACpuIsNotFed) {
  Machine machine = CpuAndGpus(1, 1000);
  machine.links.clear();
  PlanWriter p(machine);
  Command feed;
  feed.kind = Command::Kind::kFeed;
  feed.stream = p.Stream(1);
  feed.results = {p.Buffer(1, kSecond)};
  feed.port = 0;
  p.entry().programs[0].commands.push_back(feed);
  EXPECT_EQ(p.Run().status().message(),
            "plan @p: command 0: found an input that is fed to gpu:0 and no "
            "link between it and a CPU in machine " +
                machine.name +
                "; expected one; add the link, or pin the readers of inputs "
                "and the makers of outputs to other devices");
}

TEST(SimulateTest, WhatCannotBeSimulatedIsRefused) {
  Machine machine = EqualCpus(2, 1000);
  PlanWriter stuck(machine);
  stuck.Wait(stuck.Stream(0), 0);
  EXPECT_EQ(stuck.Run().status().message(),
            "plan @p: command 0: found a wait that never ends; expected a "
            "plan that the checker accepts");
  PlanWriter wild(machine);
  wild.Copy(wild.Stream(0), BufferId(5), BufferId(-1));
  EXPECT_EQ(wild.Run().status().message(),
            "plan @p: command 0: found an id that does not exist; expected a "
            "plan that the checker accepts");
  EXPECT_EQ(Simulate(wild.plan(), 1, machine, {}).status().message(),
            "plan @p: found no entry 1; expected 0 to 1 - 1");
  machine.links.clear();
  PlanWriter apart(machine);
  apart.Copy(apart.Stream(0), apart.Buffer(0, 1), apart.Buffer(1, 1));
  EXPECT_EQ(apart.Run().status().message(),
            "plan @p: command 0: found a copy from cpu:0 to cpu:1 and no link "
            "between them in machine sample; expected one; simulate on the "
            "machine that the plan is for");
}

TEST(MemoryCurveTest, BytesCountFromTheirWriteToTheirLastReadOnce) {
  const Machine machine = EqualCpus(1, 1000);
  PlanWriter p(machine);
  p.plan().devices[0].persistent_bytes = 1000;
  const StreamId s = p.Stream(0);
  const BufferId a = p.Buffer(0, 100, 0), b = p.Buffer(0, 50, 100);
  const BufferId in_place = p.Buffer(0, 50, 100);  // the bytes of b
  p.Kernel(s, 1, {}, {a});                         // 0..1
  p.Kernel(s, 1, {a}, {b});                        // 1..2
  p.Kernel(s, 1, {b}, {in_place});                 // 2..3
  p.Kernel(s, 1, {in_place}, {a});                 // 3..4
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const auto curves = MemoryCurves(p.plan(), 0, *result);
  ASSERT_TRUE(curves.ok()) << curves.status();
  std::string text;
  for (const MemoryPoint& point : (*curves)[0]) {
    absl::StrAppend(&text, point.time, ":", point.bytes, " ");
  }
  EXPECT_EQ(text, "0:1100 1:1150 2:1050 3:1150 4:1000 ");
}

TEST(PredictedTimelineTest, EveryCommandIsASpanOfItsStream) {
  const Machine machine = EqualCpus(1, 1000);
  PlanWriter p(machine);
  const StreamId s = p.Stream(0);
  p.Kernel(s, 1);
  p.Record(s, 0);
  const absl::StatusOr<Simulation> result = p.Run();
  ASSERT_TRUE(result.ok()) << result.status();
  const absl::StatusOr<Timeline> timeline =
      PredictedTimeline(p.plan(), 0, *result);
  ASSERT_TRUE(timeline.ok()) << timeline.status();
  ASSERT_EQ(timeline->tracks.size(), 1u);
  EXPECT_EQ(timeline->tracks[0].device, "cpu:0");
  ASSERT_EQ(timeline->spans.size(), 2u);
  EXPECT_EQ(timeline->spans[0].end, 1);
  EXPECT_EQ(timeline->spans[1].name, "record ev0");
  EXPECT_EQ(timeline->spans[1].start, 1);
  ASSERT_EQ(timeline->points.size(), 1u);
}

}  // namespace
}  // namespace partita
