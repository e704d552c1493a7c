// Hand-made plans replayed: values, failures, deadlines, pipelines.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/executor.h"

#include <cstring>
#include <thread>
#include <vector>

#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/plan_builder.h"
#include "runtime/executor/reference_run.h"
#include "runtime/executor/test_kernels.h"

namespace partita {
namespace {

using std::chrono::milliseconds;
using Floats = std::vector<float>;

constexpr int kElements = 37;  // not a multiple of anything

TensorType F32() { return {DType::kF32, {kElements}, {}}; }

Floats Ramp(float start) {
  Floats values(kElements);
  for (int i = 0; i < kElements; ++i) values[i] = start + 0.5f * i;
  return values;
}

// y = relu(x + w) * x on one CPU stream.
std::shared_ptr<Plan> OneStreamPlan() {
  PlanBuilder b(1);
  const ValueId x = b.Input("x", F32());
  ValueId w;
  const BufferId w_bytes =
      b.Constant("w", 0, HostTensor::Of<float>({kElements}, Ramp(-9)), w);
  const ValueId sum = b.Node(kAdd, {x, w}, "sum");
  const ValueId positive = b.Node(kRelu, {sum}, "positive");
  const ValueId y = b.Node(kMul, {positive, x}, "y");
  b.Output("y", y);
  const StreamId s = b.NewStream("compute", 0);
  const BufferId x_bytes = b.Room("x", 0, x);
  const BufferId sum_bytes = b.Room("sum", 0, sum);
  const BufferId y_bytes = b.Room("y", 0, y);
  b.Feed(s, 0, x_bytes);
  b.Kernel(s, sum, {x_bytes, w_bytes}, sum_bytes);
  b.Kernel(s, positive, {sum_bytes}, sum_bytes);  // in place
  b.Kernel(s, y, {sum_bytes, x_bytes}, y_bytes);
  b.Fetch(s, 0, y_bytes);
  return b.Finish();
}

// The same function over two devices and four streams:
//   cpu:0/compute: feed x, sum           cpu:0/out: copy sum and x to cpu:1
//   cpu:1/compute: positive, y           cpu:1/back: fetch
std::shared_ptr<Plan> FourStreamPlan(int depth = 1,
                                     DeviceKind kind = DeviceKind::kCpu) {
  PlanBuilder b(2, kind);
  b.entry().depth = depth;
  const ValueId x = b.Input("x", F32());
  ValueId w;
  const BufferId w_bytes =
      b.Constant("w", 0, HostTensor::Of<float>({kElements}, Ramp(-9)), w);
  const ValueId sum = b.Node(kAdd, {x, w}, "sum");
  const ValueId sum_there = b.Node(kCopy, {sum}, "sum_there");
  const ValueId x_there = b.Node(kCopy, {x}, "x_there");
  const ValueId positive = b.Node(kRelu, {sum_there}, "positive");
  const ValueId y = b.Node(kMul, {positive, x_there}, "y");
  b.Output("y", y);
  const StreamId compute0 = b.NewStream("compute", 0);
  const StreamId out = b.NewStream("out", 0);
  const StreamId compute1 = b.NewStream("compute", 1);
  const StreamId back = b.NewStream("back", 1);
  const BufferId x0 = b.Room("x", 0, x);
  const BufferId sum0 = b.Room("sum", 0, sum);
  const BufferId x1 = b.Room("x_there", 1, x);
  const BufferId sum1 = b.Room("sum_there", 1, sum);
  const BufferId y1 = b.Room("y", 1, y);
  const EventId summed = b.NewEvent();
  const EventId copied = b.NewEvent();
  const EventId multiplied = b.NewEvent();
  b.Feed(compute0, 0, x0);                       // 0
  b.Kernel(compute0, sum, {x0, w_bytes}, sum0);  // 1
  b.Record(compute0, summed);                    // 2
  b.Wait(out, summed);                           // 3
  b.Copy(out, sum0, sum1);                       // 4
  b.Copy(out, x0, x1);                           // 5
  b.Record(out, copied);                         // 6
  b.Wait(compute1, copied);                      // 7
  b.Kernel(compute1, positive, {sum1}, sum1);    // 8
  b.Kernel(compute1, y, {sum1, x1}, y1);         // 9
  b.Record(compute1, multiplied);                // 10
  b.Wait(back, multiplied);                      // 11
  b.Fetch(back, 0, y1);                          // 12
  return b.Finish();
}
constexpr int kSumCommand = 1;
constexpr int kPositiveCommand = 8;
constexpr int kYCommand = 9;

// v' = v + x, y = v': every step changes a variable.
std::shared_ptr<Plan> CounterPlan() {
  PlanBuilder b(1);
  const ValueId x = b.Input("x", F32());
  ValueId v;
  const BufferId v_bytes =
      b.Variable("v", 0, HostTensor::Of<float>({kElements}, Ramp(0)), v);
  const ValueId next = b.Node(kAdd, {v, x}, "next");
  b.Output("y", next);
  b.graph().AddUpdate({"v", next});
  const StreamId s = b.NewStream("compute", 0);
  const BufferId x_bytes = b.Room("x", 0, x);
  b.Feed(s, 0, x_bytes);
  b.Kernel(s, next, {v_bytes, x_bytes}, v_bytes);
  b.Fetch(s, 0, v_bytes);
  return b.Finish();
}

Floats Expected(const Floats& x) {
  const Floats w = Ramp(-9);
  Floats y(kElements);
  for (int i = 0; i < kElements; ++i) {
    y[i] = std::max(x[i] + w[i], 0.0f) * x[i];
  }
  return y;
}

enum class Kind { kCpu, kVirtual, kTimed };

// An executor over a plan with one input x and one output y.
class TestSession {
 public:
  explicit TestSession(std::shared_ptr<Plan> plan, Kind kind = Kind::kCpu) {
    Devices devices;
    for (const PlanDevice& device : plan->devices) {
      devices.push_back(
          kind == Kind::kCpu
              ? NewCpuDevice(device.traits)
              : NewVirtualDevice(device.traits, kind == Kind::kTimed));
    }
    auto executor =
        Executor::New(std::move(plan), std::move(devices), {&library});
    status_ = executor.status();
    if (executor.ok()) executor_ = *std::move(executor);
  }

  absl::Status status() const { return status_; }
  Executor& operator*() { return *executor_; }
  Executor* operator->() { return executor_.get(); }
  void Close() { executor_.reset(); }

  absl::Status Run(const Floats& x, Floats& y, const RunOptions& options = {}) {
    y.assign(kElements, -1);
    const void* in = x.data();
    void* out = y.data();
    return executor_->Run(0, {{&in, 1}, {&out, 1}}, options);
  }
  absl::StatusOr<uint64_t> Submit(const Floats& x, Floats& y,
                                  const RunOptions& options = {}) {
    y.assign(kElements, -1);
    const void* in = x.data();
    void* out = y.data();
    return executor_->Submit(0, {{&in, 1}, {&out, 1}}, options);
  }

  TestLibrary library;

 private:
  absl::Status status_;
  std::unique_ptr<Executor> executor_;
};

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

TEST(ExecutorTest, SeveralStreamsGiveTheSame) {
  for (Kind kind : {Kind::kCpu, Kind::kVirtual}) {
    TestSession session(FourStreamPlan(), kind);
    ASSERT_TRUE(session.status().ok()) << session.status();
    Floats y;
    for (int step = 0; step < 200; ++step) {
      ASSERT_TRUE(session.Run(Ramp(step), y).ok());
      ASSERT_EQ(y, Expected(Ramp(step))) << step;
    }
  }
}

TEST(ExecutorTest, HostKernelsStandInOnVirtualGpus) {
  TestSession session(FourStreamPlan(1, DeviceKind::kCuda), Kind::kVirtual);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(3), y).ok());
  EXPECT_EQ(y, Expected(Ramp(3)));
}

TEST(ExecutorTest, ChaosChangesNothing) {
  TestSession session(FourStreamPlan(), Kind::kVirtual);
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
  ASSERT_TRUE(session->WriteVariable("v", HostTensor(F32())).ok());
  ASSERT_TRUE(session.Run(ones, y).ok());
  EXPECT_EQ(y, ones);
  ASSERT_TRUE(session->Restore().ok());
  ASSERT_TRUE(session.Run(ones, y).ok());
  EXPECT_EQ(y, Ramp(1));
  EXPECT_EQ(session->ReadVariable("u").status().code(),
            absl::StatusCode::kNotFound);
}

// Fails the kernel of node `name`.
std::function<absl::Status(const OpView&)> FailAt(const std::string& name) {
  return [name](const OpView& node) {
    if (node.result(0).name() != name) return absl::OkStatus();
    return absl::UnavailableError("injected");
  };
}

TEST(ExecutorTest, AnInjectedFailureNamesItsCommandAndHangsNothing) {
  const std::pair<std::string, int> faults[] = {
      {"sum", kSumCommand}, {"positive", kPositiveCommand}, {"y", kYCommand}};
  for (const auto& [name, command] : faults) {
    TestSession session(FourStreamPlan());
    Floats y;
    for (int round = 0; round < 20; ++round) {
      session.library.before_launch = FailAt(name);
      const absl::Status status = session.Run(Ramp(1), y);
      ASSERT_EQ(status.code(), absl::StatusCode::kUnavailable);
      ASSERT_EQ(session->last_failure()->command, command);
      // No variable was at stake, so the session goes on.
      session.library.before_launch = nullptr;
      ASSERT_TRUE(session.Run(Ramp(round), y).ok());
      ASSERT_EQ(y, Expected(Ramp(round)));
    }
    session.Close();
    EXPECT_EQ(session.library.bound, 0);
  }
}

TEST(ExecutorTest, TheMessageNamesDeviceStreamCommandKindAndNode) {
  TestSession session(FourStreamPlan());
  session.library.before_launch = FailAt("positive");
  Floats y;
  EXPECT_EQ(session.Run(Ramp(1), y).message(),
            "entry @f: cpu:1/compute: command 8 kernel relu %positive: "
            "injected");
}

TEST(ExecutorTest, AFailedStepWithUpdatesFailsTheSessionUntilRestore) {
  TestSession session(CounterPlan());
  Floats y;
  session.library.before_launch = FailAt("next");
  EXPECT_EQ(session.Run(Ramp(0), y).code(), absl::StatusCode::kUnavailable);
  session.library.before_launch = nullptr;
  EXPECT_EQ(session.Run(Ramp(0), y).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session->ReadVariable("v").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(session.Submit(Ramp(0), y).status().message(),
            "session: found its variables undefined after a failed step "
            "(entry @f: cpu:0/compute: command 1 kernel add %next: injected); "
            "expected Restore() before the next call");
  ASSERT_TRUE(session->Restore().ok());
  EXPECT_TRUE(session.Run(Ramp(0), y).ok());
}

TEST(ExecutorTest, ADeadlineEndsTheStep) {
  for (auto make :
       {+[] { return OneStreamPlan(); }, +[] { return FourStreamPlan(); }}) {
    TestSession session(make());
    session.library.before_launch = [](const OpView&) {
      std::this_thread::sleep_for(milliseconds(30));
      return absl::OkStatus();
    };
    Floats y;
    const auto soon = std::chrono::steady_clock::now() + milliseconds(10);
    EXPECT_EQ(session.Run(Ramp(1), y, {.deadline = soon}).code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(session.library.launching, 0);
    session.library.before_launch = nullptr;
    ASSERT_TRUE(session.Run(Ramp(2), y).ok());
    EXPECT_EQ(y, Expected(Ramp(2)));
  }
}

TEST(ExecutorTest, ACancelledRunEndsAtOnce) {
  TestSession session(FourStreamPlan());
  std::stop_source source;
  session.library.before_launch = [&](const OpView& node) {
    if (node.result(0).name() == "positive") source.request_stop();
    return absl::OkStatus();
  };
  Floats y;
  const absl::Status status =
      session.Run(Ramp(1), y, {.cancel = source.get_token()});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(session->last_failure()->command, -1);
  // A token that is already used ends a run before it starts.
  EXPECT_EQ(session.Run(Ramp(1), y, {.cancel = source.get_token()}).code(),
            absl::StatusCode::kCancelled);
  session.library.before_launch = nullptr;
  EXPECT_TRUE(session.Run(Ramp(1), y).ok());
}

TEST(ExecutorTest, ASecondConcurrentRunIsRefused) {
  TestSession session(FourStreamPlan());
  std::atomic<bool> inside = false, go_on = false;
  session.library.before_launch = [&](const OpView&) {
    inside = true;
    while (!go_on) std::this_thread::yield();
    return absl::OkStatus();
  };
  Floats y, other;
  std::thread first([&] { EXPECT_TRUE(session.Run(Ramp(1), y).ok()); });
  while (!inside) std::this_thread::yield();
  EXPECT_EQ(session.Run(Ramp(2), other).code(),
            absl::StatusCode::kFailedPrecondition);
  go_on = true;
  first.join();
  EXPECT_EQ(y, Expected(Ramp(1)));
}

TEST(ExecutorTest, StepsInFlightKeepTheirInputsAndOutputsApart) {
  constexpr int kDepth = 2, kSteps = 100;
  TestSession session(FourStreamPlan(kDepth), Kind::kVirtual);
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

TEST(ExecutorTest, TwoStepsReallyOverlap) {
  TestSession session(FourStreamPlan(2));
  // The first step's last kernel waits for the second step's first.
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

TEST(ExecutorTest, AFailureTakesEveryStepInFlightWithIt) {
  TestSession session(FourStreamPlan(2));
  session.library.before_launch = FailAt("y");
  const Floats x = Ramp(1);
  Floats y[2];
  ASSERT_TRUE(session.Submit(x, y[0]).ok());
  const bool second = session.Submit(x, y[1]).ok();
  EXPECT_EQ(session->Wait(0).code(), absl::StatusCode::kUnavailable);
  if (second) {
    EXPECT_EQ(session->Wait(1).code(), absl::StatusCode::kUnavailable);
  }
  session.library.before_launch = nullptr;
  ASSERT_TRUE(session.Run(x, y[0]).ok());
  EXPECT_EQ(y[0], Expected(x));
}

TEST(ExecutorTest, ASessionMayEndWithStepsInFlight) {
  for (int round = 0; round < 20; ++round) {
    TestSession session(FourStreamPlan(2));
    const Floats x = Ramp(1);
    Floats y[2];
    ASSERT_TRUE(session.Submit(x, y[0]).ok());
    ASSERT_TRUE(session.Submit(x, y[1]).ok());
    session.Close();
    EXPECT_EQ(session.library.launching, 0);
    EXPECT_EQ(session.library.bound, 0);
  }
}

TEST(ExecutorDeathTest, AnUndeclaredAccessOfAVirtualDeviceIsCaught) {
  if (!ArenaGuardsWork()) GTEST_SKIP() << "needs AddressSanitizer";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  TestSession session(FourStreamPlan(), Kind::kVirtual);
  // One byte behind the result is nobody's.
  session.library.on_pointers = [](const LaunchArgs& args) {
    char* result = static_cast<char*>(args.results[0]);
    result[kElements * sizeof(float)] = 1;
  };
  Floats y;
  EXPECT_DEATH(session.Run(Ramp(1), y).IgnoreError(), "use-after-poison");
}

TEST(ExecutorTest, MemoryIsWhatThePlanStates) {
  auto plan = FourStreamPlan(3);
  TestSession session(plan, Kind::kVirtual);
  const std::vector<DeviceMemory> use = session->MemoryUse();
  ASSERT_EQ(use.size(), 2u);
  for (size_t d = 0; d < use.size(); ++d) {
    const PlanDevice& device = plan->devices[d];
    EXPECT_EQ(use[d].device, device.traits.name);
    EXPECT_EQ(use[d].arena, device.persistent_bytes + 3 * device.step_bytes);
    EXPECT_EQ(use[d].in_place, 0);
    EXPECT_LE(use[d].committed, use[d].arena + 4095);
  }
}

TEST(ExecutorTest, ConstantsOfACpuStayWhereThePlanKeepsThem) {
  TestSession session(OneStreamPlan());
  EXPECT_EQ(session->MemoryUse()[0].in_place,
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
  TestSession session(plan, Kind::kTimed);
  ASSERT_TRUE(session.status().ok()) << session.status();
  Floats y;
  ASSERT_TRUE(session.Run(Ramp(1), y, {.trace = true}).ok());
  EXPECT_EQ(y, Floats(kElements, -1));  // nothing is computed
  const std::vector<MeasuredCommand> trace = session->LastTrace();
  EXPECT_GE(trace[12].end_seconds, 0.04);
  EXPECT_EQ(session.library.bound, 0);
}

TEST(ExecutorTest, TimedDevicesNeedPredictions) {
  TestSession session(FourStreamPlan(), Kind::kTimed);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ExecutorTest, AKernelThatNoLibraryHasIsRefusedByName) {
  TestSession session(FourStreamPlan(1, DeviceKind::kCuda));
  EXPECT_EQ(session.status().message(),
            "entry @f: gpu:0/compute: command 1 kernel add %sum: add %sum: "
            "found no kernel for `test.eval` on gpu:0; asked: test (found a "
            "GPU; expected a CPU)");
}

}  // namespace
}  // namespace partita
