// Runs small plans: values, pipelines, memory, traces.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/executor.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/reference_run.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

TEST(ExecutorTest, OneStreamRunsOnTheCallersThread) {
  TestSession session(OneStreamPlan());
  ASSERT_TRUE(session.status().ok()) << session.status();
  std::vector<std::thread::id> threads;
  session.library.before_launch = [&](const OpView&) {
    threads.push_back(std::this_thread::get_id());
    return absl::OkStatus();
  };
  Floats y;
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(session.Run(Ramp(step), y).ok());
    EXPECT_EQ(y, Expected(Ramp(step)));
  }
  EXPECT_EQ(threads,
            std::vector<std::thread::id>(9, std::this_thread::get_id()));
}

// A separate thread would compete with the others for a core, while the caller
// only waits.
TEST(ExecutorTest, TheFirstStreamOfSeveralRunsOnTheCallersThread) {
  TestSession session(FourStreamPlan(), RunOn::kVirtual);
  ASSERT_TRUE(session.status().ok()) << session.status();
  const std::thread::id caller = std::this_thread::get_id();
  session.library.before_launch = [caller](const OpView& node) {
    const bool first = node.result(0).name() == "sum";
    EXPECT_EQ(std::this_thread::get_id() == caller, first);
    return absl::OkStatus();
  };
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y).ok());
  EXPECT_EQ(y, Expected(Ramp(1)));
}

TEST(ExecutorTest, SeveralStreamsGiveTheSame) {
  for (RunOn kind : {RunOn::kCpu, RunOn::kVirtual}) {
    TestSession session(FourStreamPlan(), kind);
    ASSERT_TRUE(session.status().ok()) << session.status();
    Floats y;
    for (int step = 0; step < 200; ++step) {
      ASSERT_TRUE(session.Run(Ramp(step), y).ok());
      ASSERT_EQ(y, Expected(Ramp(step))) << step;
    }
  }
}

// As in the checker: `0 8` and `0 4 x 2 every 4` are the same bytes.
TEST(ExecutorTest, RangesMayBeWrittenInAdjacentBlocks) {
  const std::shared_ptr<Plan> plan = FourStreamPlan();
  for (Buffer& buffer : plan->entries[0].buffers) {
    const int64_t half = buffer.range.block / 2;
    const Range blocks = {buffer.range.offset, half, 2, half};
    ASSERT_EQ(blocks, buffer.range);
    buffer.range = blocks;
  }
  TestSession session(plan);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(2), y).ok());
  EXPECT_EQ(y, Expected(Ramp(2)));
}

// y = relu(x) in two micro-batches that use the same bytes.
std::shared_ptr<Plan> MicroBatchPlan() {
  PlanBuilder b(1);
  const ValueId x = b.Input("x", {DType::kF32, {4}, {}});
  const ValueId y = b.Node(kRelu, {x}, "y");
  b.Output("y", y);
  const BufferId x_bytes = b.Room("x", 0, x);
  const BufferId y_bytes = b.Room("y", 0, y);
  const StreamId s = b.NewStream("compute", 0);
  for (int batch = 0; batch < 2; ++batch) {
    b.Feed(s, 0, x_bytes);
    b.Kernel(s, y, {x_bytes}, y_bytes);
    b.Fetch(s, 0, y_bytes);
  }
  std::vector<Command>& commands = b.entry().programs[0].commands;
  for (int c : {3, 4, 5}) commands[c].instance.micro_batch = MicroBatchId(1);
  b.entry().inputs[0].type.dims = {8};
  b.entry().outputs[0].type.dims = {8};
  return b.Finish();
}

TEST(ExecutorTest, EachMicroBatchHasItsSliceOfThePorts) {
  TestSession session(MicroBatchPlan());
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run({-1, 2, 3, -4, 5, -6, -7, 8}, y).ok());
  y.resize(9);
  EXPECT_EQ(y, (Floats{0, 2, 3, 0, 5, 0, 0, 8, -1}));
}

TEST(ExecutorTest, TheReferenceRunConcatenatesMicroBatches) {
  const auto plan = MicroBatchPlan();
  const Floats x = {-1, 2, 3, -4, 5, -6, -7, 8};
  const void* in = x.data();
  const TestLibrary library;
  const auto reference = ReferenceRun(*plan, 0, {&in, 1}, {&library});
  ASSERT_TRUE(reference.ok()) << reference.status();
  const absl::Span<const float> y = (*reference)[0].data<float>();
  EXPECT_EQ(Floats(y.begin(), y.end()), (Floats{0, 2, 3, 0, 5, 0, 0, 8}));
}

// y = relu(x), sharded by columns over two devices; each device fetches its
// shard.
TEST(ExecutorTest, EachRankFetchesItsShard) {
  PlanBuilder b(2);
  const ValueId x = b.Input("x", {DType::kF32, {2, 3}, {}});
  const ValueId y = b.Node(kRelu, {x}, "y");
  b.Output("y", y);
  Placement& placement =
      b.graph().node(b.graph().value(y).defining_node).placement;
  placement.devices = {"cpu:0", "cpu:1"};
  placement.operands = {{.kind = Sharding::Kind::kSplit, .dim = 1}};
  placement.results = placement.operands;
  const std::vector<Range> columns = {{0, 4, 2, 12}, {4, 8, 2, 12}};
  for (int d = 0; d < 2; ++d) {
    const BufferId whole = b.Room("x", d, x);
    const BufferId part = b.RoomOf("part", d, 0);
    b.entry().buffers[part.index].range = columns[d];
    const BufferId shard = b.RoomOf("shard", d, 8 * (d + 1));
    const BufferId result = b.RoomOf("y", d, 8 * (d + 1));
    const StreamId s = b.NewStream("compute", d);
    b.Feed(s, 0, whole);
    b.Copy(s, part, shard);
    b.Kernel(s, y, {shard}, result).instance.rank = d;
    b.Fetch(s, 0, result);
  }
  TestSession session(b.Finish());
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats out;
  ASSERT_TRUE(session.Run({-1, 2, -3, 4, -5, 6}, out).ok());
  out.resize(7);
  EXPECT_EQ(out, (Floats{0, 2, 0, 4, 0, 6, -1}));
}

TEST(ExecutorTest, HostKernelsEmulateVirtualGpus) {
  TestSession session(FourStreamPlan(1, DeviceKind::kCuda), RunOn::kVirtual);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(3), y).ok());
  EXPECT_EQ(y, Expected(Ramp(3)));
}

TEST(ExecutorTest, ChaosChangesNothing) {
  TestSession session(FourStreamPlan(), RunOn::kVirtual);
  ASSERT_TRUE(session.status().ok()) << session.status();
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Floats y;
    ASSERT_TRUE(session.Run(Ramp(seed), y, {.chaos_seed = seed}).ok());
    ASSERT_EQ(y, Expected(Ramp(seed))) << "seed " << seed;
  }
}

TEST(ExecutorTest, APlanEqualsItsReferenceBitForBit) {
  auto plan = FourStreamPlan();
  TestSession session(plan);
  const Floats x = Ramp(-4);
  Floats y;
  ASSERT_TRUE(session.Run(x, y).ok());
  const void* in = x.data();
  auto reference = ReferenceRun(*plan, 0, {&in, 1}, {&session.library});
  ASSERT_TRUE(reference.ok()) << reference.status();
  ASSERT_EQ(reference->size(), 1u);
  EXPECT_EQ(
      std::memcmp((*reference)[0].bytes(), y.data(), y.size() * sizeof(float)),
      0);
}

TEST(ExecutorTest, AVariableKeepsItsValueBetweenSteps) {
  auto plan = CounterPlan();
  TestSession session(plan);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  const Floats ones(kElements, 1);
  for (int step = 1; step <= 3; ++step) {
    ASSERT_TRUE(session.Run(ones, y).ok());
    EXPECT_EQ(y[0], step);
  }
  auto value = session->ReadVariable("v");
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->data<float>()[0], 3);
  ASSERT_TRUE(session->WriteVariable("v", HostTensor(Line())).ok());
  ASSERT_TRUE(session.Run(ones, y).ok());
  EXPECT_EQ(y, ones);
  ASSERT_TRUE(session->Restore().ok());
  ASSERT_TRUE(session.Run(ones, y).ok());
  EXPECT_EQ(y, Ramp(1));
  EXPECT_EQ(session->ReadVariable("u").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(ExecutorTest, StepsInFlightKeepTheirInputsAndOutputsApart) {
  constexpr int kDepth = 2, kSteps = 100;
  TestSession session(FourStreamPlan(kDepth), RunOn::kVirtual);
  ASSERT_TRUE(session.status().ok()) << session.status();
  std::vector<Floats> x(kSteps), y(kSteps);
  for (int step = 0; step < kSteps; ++step) {
    x[step] = Ramp(step);
    auto number = session.Submit(x[step], y[step], {.chaos_seed = step});
    ASSERT_TRUE(number.ok()) << number.status();
    ASSERT_EQ(*number, static_cast<uint64_t>(step));
    if (step == 0) continue;
    ASSERT_TRUE(session->Wait(step - 1).ok());
    ASSERT_EQ(y[step - 1], Expected(x[step - 1]));
  }
  ASSERT_TRUE(session->Wait(kSteps - 1).ok());
  EXPECT_EQ(y[kSteps - 1], Expected(x[kSteps - 1]));
}

TEST(ExecutorTest, TwoStepsOverlap) {
  TestSession session(FourStreamPlan(2));
  // The first step's last kernel waits for the second step's first kernel.
  std::atomic<int> sums = 0;
  session.library.before_launch = [&](const OpView& node) {
    if (node.result(0).name() == "sum") ++sums;
    if (node.result(0).name() == "y") {
      while (sums < 2) std::this_thread::yield();
    }
    return absl::OkStatus();
  };
  const Floats x0 = Ramp(1), x1 = Ramp(5);
  Floats y0, y1;
  ASSERT_TRUE(session.Submit(x0, y0).ok());
  ASSERT_TRUE(session.Submit(x1, y1).ok());
  ASSERT_TRUE(session->Wait(0).ok());
  ASSERT_TRUE(session->Wait(1).ok());
  EXPECT_EQ(y0, Expected(x0));
  EXPECT_EQ(y1, Expected(x1));
}

TEST(ExecutorTest, NoMoreStepsThanTheDepthMayBeInFlight) {
  TestSession session(FourStreamPlan(2));
  const Floats x = Ramp(1);
  Floats y[3];
  ASSERT_TRUE(session.Submit(x, y[0]).ok());
  ASSERT_TRUE(session.Submit(x, y[1]).ok());
  EXPECT_EQ(session.Submit(x, y[2]).status().message(),
            "entry @f: found 2 steps in flight; expected fewer than the plan's "
            "depth of 2; wait for step 0 first");
  EXPECT_EQ(session.Run(x, y[2]).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->Wait(1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(session->Wait(0).ok());
  EXPECT_TRUE(session->Wait(1).ok());
  EXPECT_TRUE(session.Run(x, y[2]).ok());
}

TEST(ExecutorTest, MemoryIsWhatThePlanStates) {
  auto plan = FourStreamPlan(3);
  TestSession session(plan, RunOn::kVirtual);
  const std::vector<DeviceMemory> use = session->MemoryUse().value();
  ASSERT_EQ(use.size(), 2u);
  for (size_t d = 0; d < use.size(); ++d) {
    const PlanDevice& device = plan->devices[d];
    EXPECT_EQ(use[d].device, device.traits.name);
    EXPECT_EQ(use[d].arena, device.persistent_bytes + 3 * device.step_bytes);
    EXPECT_EQ(use[d].allocated, device.persistent_bytes);
    EXPECT_EQ(use[d].peak, device.persistent_bytes);
    EXPECT_GE(use[d].reserved, use[d].arena);
    EXPECT_EQ(use[d].staging, 0);
    EXPECT_EQ(use[d].in_place, 0);
    EXPECT_LE(use[d].committed, use[d].arena + 4095);
  }
}

TEST(ExecutorTest, StepsInFlightAreAllocated) {
  auto plan = FourStreamPlan(2);
  TestSession session(plan, RunOn::kVirtual);
  const auto of = [&](int64_t DeviceMemory::*figure) {
    int64_t bytes = 0;
    const std::vector<DeviceMemory> use = session->MemoryUse().value();
    for (const DeviceMemory& memory : use) bytes += memory.*figure;
    return bytes;
  };
  const int64_t persistent = of(&DeviceMemory::persistent);
  Floats x = Ramp(1), y[2];
  ASSERT_TRUE(session.Submit(x, y[0]).ok());
  const int64_t step = of(&DeviceMemory::allocated) - persistent;
  EXPECT_GT(step, 0);
  EXPECT_LE(step, of(&DeviceMemory::step));
  ASSERT_TRUE(session.Submit(x, y[1]).ok());
  EXPECT_EQ(of(&DeviceMemory::allocated), persistent + 2 * step);
  ASSERT_TRUE(session->Wait(0).ok());
  ASSERT_TRUE(session->Wait(1).ok());
  EXPECT_EQ(of(&DeviceMemory::allocated), persistent);
  EXPECT_EQ(of(&DeviceMemory::peak), persistent + 2 * step);
}

TEST(ExecutorTest, ConstantsOfACpuStayWhereThePlanKeepsThem) {
  TestSession session(OneStreamPlan());
  EXPECT_EQ(session->MemoryUse().value()[0].in_place,
            static_cast<int64_t>(kElements * sizeof(float)));
}

TEST(ExecutorTest, ATraceHasEveryCommandInOrderOfItsEvents) {
  TestSession session(FourStreamPlan());
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y, {.trace = true}).ok());
  const std::vector<MeasuredCommand> trace = session->LastTrace();
  ASSERT_EQ(trace.size(), 13u);
  for (const MeasuredCommand& command : trace) {
    EXPECT_LE(command.start_seconds, command.end_seconds);
  }
  EXPECT_LE(trace[kSumCommand].end_seconds, trace[4].start_seconds);
  EXPECT_LE(trace[5].end_seconds, trace[kPositiveCommand].start_seconds);
}

TEST(ExecutorTest, TimedDevicesSleepForThePredictedTime) {
  auto plan = FourStreamPlan(1, DeviceKind::kCuda);
  EntryNotes notes;
  notes.predicted.resize(13);
  for (int c : {kSumCommand, kPositiveCommand}) {
    notes.predicted[c] = {.start_seconds = 1, .end_seconds = 1.02};
  }
  plan->notes.emplace();
  plan->notes->entries = {notes};
  TestSession session(plan, RunOn::kTimed);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y, {.trace = true}).ok());
  EXPECT_EQ(y, Floats(kElements, -1));  // nothing is computed
  const std::vector<MeasuredCommand> trace = session->LastTrace();
  EXPECT_GE(trace[12].end_seconds, 0.04);
  EXPECT_EQ(session.library.bound, 0);
}

}  // namespace
}  // namespace partita
