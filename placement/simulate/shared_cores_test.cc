// Tests commands that share the cores of the host, with times computed by hand.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>

#include "placement/cost/host_cores.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/simulate.h"
#include "placement/simulate/testing/plan_writer.h"

namespace partita {
namespace {

// Every link: 1e10 bytes per second, no latency.
constexpr int64_t kSecond = 10'000'000'000;  // bytes per second of a link

Machine CpusOn(int cores, int cpus, double wake_seconds = 0) {
  Machine machine = EqualCpus(cpus, 1000);
  machine.host = {.cores = cores, .wake_seconds = wake_seconds};
  return machine;
}

double EndOf(const absl::StatusOr<Simulation>& result, CommandId command) {
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->commands[command].end : -1;
}

// Two kernels of one thread each; the second goes on alone.
double SecondEnd(const Machine& machine) {
  PlanWriter p(machine);
  p.Kernel(p.Stream(0), 1);
  const CommandId second = p.Kernel(p.Stream(1), 3);
  return EndOf(p.Run(), second);
}

TEST(SharedCoresTest, MoreKernelsThanCoresSlowEachOtherDown) {
  EXPECT_EQ(SecondEnd(EqualCpus(2, 1000)), 3);
  EXPECT_DOUBLE_EQ(SecondEnd(CpusOn(2, 2)), 3);
  // Both at half the speed for two seconds.
  EXPECT_DOUBLE_EQ(SecondEnd(CpusOn(1, 2)), 4);
}

TEST(SharedCoresTest, AKernelNeedsACoreForEachOfItsThreads) {
  Machine machine = CpusOn(2, 2);
  machine.devices[0].traits.threads = 3;
  // Four threads on two cores until the first ends.
  EXPECT_DOUBLE_EQ(SecondEnd(machine), 4);
}

TEST(SharedCoresTest, ACopyTakesACoreFromKernels) {
  const Machine machine = CpusOn(1, 2);
  PlanWriter p(machine);
  const StreamId compute = p.Stream(0), copy = p.Stream(0);
  const CommandId copied =
      p.Copy(copy, p.Buffer(0, kSecond), p.Buffer(1, kSecond));
  const CommandId kernel = p.Kernel(compute, 3);
  const absl::StatusOr<Simulation> result = p.Run();
  EXPECT_NEAR(EndOf(result, copied), 2, 1e-9);
  EXPECT_NEAR(EndOf(result, kernel), 4, 1e-9);
}

// Its copies are DMA, and its kernels run elsewhere.
TEST(SharedCoresTest, AGpuTakesNoCore) {
  Machine machine = CpuAndGpus(1, 1000);
  machine.host = {.cores = 1};
  PlanWriter p(machine);
  const StreamId compute = p.Stream(0), copy = p.Stream(0), gpu = p.Stream(1);
  const CommandId copied =
      p.Copy(copy, p.Buffer(0, kSecond), p.Buffer(1, kSecond));
  const CommandId kernel = p.Kernel(compute, 3);
  const CommandId other = p.Kernel(gpu, 2);
  const absl::StatusOr<Simulation> result = p.Run();
  EXPECT_NEAR(EndOf(result, copied), 1, 1e-9);
  EXPECT_NEAR(EndOf(result, kernel), 3, 1e-9);
  EXPECT_NEAR(EndOf(result, other), 2, 1e-9);
}

// The other stream waits for a kernel of `seconds`, then runs one of a second.
double EndAfterWait(const Machine& machine, double seconds) {
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  p.Kernel(a, seconds);
  p.Record(a, 0);
  p.Wait(b, 0);
  const CommandId last = p.Kernel(b, 1);
  return EndOf(p.Run(), last);
}

TEST(SharedCoresTest, AStreamThatWaitedLongWakesUp) {
  const double longer = 2 * kPollSeconds;
  EXPECT_DOUBLE_EQ(EndAfterWait(EqualCpus(2, 1000), longer), longer + 1);
  EXPECT_DOUBLE_EQ(EndAfterWait(CpusOn(2, 2, 0.25), longer), longer + 1.25);
}

TEST(SharedCoresTest, AStreamThatPollsGoesOnAtOnce) {
  const double shorter = kPollSeconds / 2;
  EXPECT_DOUBLE_EQ(EndAfterWait(CpusOn(2, 2, 0.25), shorter), shorter + 1);
  // Two threads on one core: no thread polls.
  EXPECT_DOUBLE_EQ(EndAfterWait(CpusOn(1, 2, 0.25), shorter), shorter + 1.25);
}

// What was recorded long ago wakes nobody.
TEST(SharedCoresTest, WithoutAWaitThereIsNoWakeUp) {
  const Machine machine = CpusOn(2, 2, 0.25);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  p.Kernel(a, 1);
  p.Record(a, 0);
  p.Kernel(b, 3);
  p.Wait(b, 0);
  const CommandId last = p.Kernel(b, 1);
  EXPECT_DOUBLE_EQ(EndOf(p.Run(), last), 4);
}

TEST(SharedCoresTest, AReceiverWakesUp) {
  const Machine machine = CpusOn(4, 2, 0.25);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  const ChannelId channel = p.Channel(a, b, 1, kSecond);
  p.Send(a, p.Buffer(0, kSecond), channel);
  p.Recv(b, p.Buffer(1, kSecond), channel);
  const CommandId last = p.Kernel(b, 1);
  EXPECT_NEAR(EndOf(p.Run(), last), 2.25, 1e-9);
}

// Two threads on one core, so that none polls. The first stream runs on the
// caller's thread.
TEST(SharedCoresTest, OtherStreamsWakeUpWhenAStepBegins) {
  const Machine machine = CpusOn(1, 2, 0.25);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  const CommandId first = p.Kernel(a, 1);
  p.Record(a, 0);
  const CommandId other = p.Kernel(b, 0.5);
  p.Wait(b, 0);
  const absl::StatusOr<Simulation> result = p.Run();
  // Both at half the speed until the second has ended.
  EXPECT_DOUBLE_EQ(EndOf(result, other), 1.5);
  EXPECT_DOUBLE_EQ(EndOf(result, first), 1.75);
}

// A kernel of the first stream, then one of two seconds of the other.
CommandId WriteStages(PlanWriter& p, StreamId a, StreamId b) {
  p.Kernel(a, 1);
  p.Record(a, 0);
  p.Wait(b, 0);
  return p.Kernel(b, 2);
}

TEST(SharedCoresTest, TheCallerWakesUpWhenAnotherStreamEndsTheStep) {
  const Machine machine = CpusOn(1, 2, 0.25);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  const CommandId last = WriteStages(p, a, b);
  const absl::StatusOr<Simulation> result = p.Run();
  EXPECT_DOUBLE_EQ(EndOf(result, last), 3.25);
  EXPECT_DOUBLE_EQ(result->step_seconds, 3.5);
  EXPECT_DOUBLE_EQ(result->latency_seconds, 3.5);
}

TEST(SharedCoresTest, ACallerWhoseOwnStreamEndsTheStepIsAwake) {
  const Machine machine = CpusOn(1, 2, 0.25);
  PlanWriter p(machine);
  const StreamId a = p.Stream(0), b = p.Stream(1);
  WriteStages(p, a, b);
  p.Record(b, 1);
  p.Wait(a, 1);
  const CommandId last = p.Kernel(a, 1);
  const absl::StatusOr<Simulation> result = p.Run();
  EXPECT_DOUBLE_EQ(EndOf(result, last), 4.5);
  EXPECT_DOUBLE_EQ(result->step_seconds, 4.5);
}

}  // namespace
}  // namespace partita
