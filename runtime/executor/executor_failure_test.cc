// Tests failures in a step: the step ends, names the command, and frees
// everything.
// SPDX-License-Identifier: Apache-2.0

#include <thread>
#include <vector>

#include "graph/status_macros.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

using std::chrono::milliseconds;

// Makes the kernel of node `name` fail.
std::function<absl::Status(const OpView&)> FailAt(const std::string& name) {
  return [name](const OpView& node) {
    if (node.result(0).name() != name) return absl::OkStatus();
    return absl::UnavailableError("injected");
  };
}

TEST(ExecutorFailureTest, AnInjectedFailureNamesItsCommandAndHangsNothing) {
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
      // The step has no updates, so the session goes on.
      session.library.before_launch = nullptr;
      ASSERT_TRUE(session.Run(Ramp(round), y).ok());
      ASSERT_EQ(y, Expected(Ramp(round)));
    }
    session.Close();
    EXPECT_EQ(session.library.bound, 0);
  }
}

// A device whose streams fail at the call that a test chooses.
class FaultyStream : public DeviceStream {
 public:
  FaultyStream(std::unique_ptr<DeviceStream> stream, int fault)
      : stream_(std::move(stream)), fault_(fault) {}
  int Attach() override { return stream_->Attach(); }
  void Detach(int attached) override { stream_->Detach(attached); }
  absl::Status Copy(const Blocks& to, const Blocks& from) override {
    if (fault_-- == 0) return absl::DataLossError("broken wire");
    return stream_->Copy(to, from);
  }
  absl::Status Record(DeviceEvent& event, uint64_t step) override {
    if (fault_-- == 0) return absl::DataLossError("broken wire");
    return stream_->Record(event, step);
  }
  absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                            const WaitPolicy& policy) override {
    return stream_->Wait(event, step, policy);
  }
  absl::Status Sleep(std::chrono::nanoseconds duration) override {
    return stream_->Sleep(duration);
  }
  void Stamp(SteadyTime& time) override { stream_->Stamp(time); }
  absl::Status Finish() override { return stream_->Finish(); }

 private:
  std::unique_ptr<DeviceStream> stream_;
  int fault_;  // copies and records before the one that fails
};

// Streams are numbered over all devices, in the order of the plan.
class FaultyDevice : public Device {
 public:
  struct Fault {
    int stream = -1;
    int call = 0;  // among the stream's copies, feeds, fetches and records
    int next_stream = 0;
  };
  FaultyDevice(std::unique_ptr<Device> device, Fault& fault)
      : device_(std::move(device)), fault_(fault) {}
  const DeviceTraits& traits() const override { return device_->traits(); }
  const DeviceProperties& properties() const override {
    return device_->properties();
  }
  absl::StatusOr<std::unique_ptr<Arena>> NewArena(int64_t bytes,
                                                  int64_t alignment) override {
    return device_->NewArena(bytes, alignment);
  }
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() override {
    const bool faulty = fault_.next_stream++ == fault_.stream;
    PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<DeviceStream> stream,
                             device_->NewStream());
    return std::make_unique<FaultyStream>(std::move(stream),
                                          faulty ? fault_.call : -1);
  }
  absl::StatusOr<std::unique_ptr<DeviceEvent>> NewEvent() override {
    return device_->NewEvent();
  }
  absl::Status Upload(std::byte* to, const void* from, int64_t bytes) override {
    return device_->Upload(to, from, bytes);
  }
  absl::Status Download(void* to, const std::byte* from,
                        int64_t bytes) override {
    return device_->Download(to, from, bytes);
  }

 private:
  std::unique_ptr<Device> device_;
  Fault& fault_;
};

// The fault that makes a command of the plan fail.
FaultyDevice::Fault FaultAt(const CommandList& commands, CommandId failing) {
  FaultyDevice::Fault fault;
  fault.stream = commands[failing].stream.index;
  for (CommandId c(0); c < failing; ++c.index) {
    const Command::Kind kind = commands[c].kind;
    if (commands[c].stream == commands[failing].stream &&
        kind != Command::Kind::kKernel && kind != Command::Kind::kWait) {
      ++fault.call;
    }
  }
  return fault;
}

TEST(ExecutorFailureTest, AFaultAtAnyTransferOrRecordEndsTheStep) {
  auto plan = FourStreamPlan();
  const auto commands = Expand(plan->entries[0]);
  ASSERT_TRUE(commands.ok());
  for (int number = 0; number < 13; ++number) {
    const Command::Kind kind = (*commands)[CommandId(number)].kind;
    if (kind == Command::Kind::kKernel || kind == Command::Kind::kWait) {
      continue;  // kernels fail in the test above, and waits cannot
    }
    FaultyDevice::Fault fault = FaultAt(*commands, CommandId(number));
    Devices devices;
    for (auto& device : NewDevices(*plan, RunOn::kCpu)) {
      devices.push_back(
          std::make_unique<FaultyDevice>(std::move(device), fault));
    }
    TestSession session(plan, std::move(devices));
    ASSERT_TRUE(session.status().ok()) << session.status();
    Floats y;
    const absl::Status status = session.Run(Ramp(1), y);
    ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << number;
    EXPECT_EQ(session->last_failure()->command, number);
    EXPECT_EQ(session->last_failure()->kind, CommandKindName(kind));
    ASSERT_TRUE(session.Run(Ramp(2), y).ok()) << number;
    EXPECT_EQ(y, Expected(Ramp(2)));
    session.Close();
    EXPECT_EQ(session.library.bound, 0);
  }
}

TEST(ExecutorFailureTest, TheMessageNamesDeviceStreamCommandKindAndNode) {
  TestSession session(FourStreamPlan());
  session.library.before_launch = FailAt("positive");
  Floats y;
  EXPECT_EQ(session.Run(Ramp(1), y).message(),
            "entry @f: cpu:1/compute: command 8 kernel relu %positive: "
            "injected");
}

TEST(ExecutorFailureTest, AFailedStepWithUpdatesFailsTheSessionUntilRestore) {
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
            "expected its variables restored before the next call");
  ASSERT_TRUE(session->Restore().ok());
  EXPECT_TRUE(session.Run(Ramp(0), y).ok());
}

TEST(ExecutorFailureTest, ADeadlineEndsTheStep) {
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

TEST(ExecutorFailureTest, ACancelledRunEndsAtOnce) {
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
  // A stop that was requested before the run ends it before it starts.
  EXPECT_EQ(session.Run(Ramp(1), y, {.cancel = source.get_token()}).code(),
            absl::StatusCode::kCancelled);
  session.library.before_launch = nullptr;
  EXPECT_TRUE(session.Run(Ramp(1), y).ok());
}

TEST(ExecutorFailureTest, ASecondConcurrentRunIsRefused) {
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

TEST(ExecutorFailureTest, AFailureTakesEveryStepInFlightWithIt) {
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

TEST(ExecutorFailureTest, ASessionMayEndWithStepsInFlight) {
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
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  TestSession session(FourStreamPlan(), RunOn::kVirtual);
  // No buffer contains the byte after the result.
  session.library.on_pointers = [](const LaunchArgs& args) {
    char* result = static_cast<char*>(args.results[0]);
    result[kElements * sizeof(float)] = 1;
  };
  Floats y;
  if (ArenaGuardsWork()) {
    EXPECT_DEATH(session.Run(Ramp(1), y).IgnoreError(), "use-after-poison");
  } else {  // the byte belongs to the arena, and no guard checks it
    EXPECT_TRUE(session.Run(Ramp(1), y).ok());
  }
}

TEST(ExecutorFailureTest, TimedDevicesNeedPredictions) {
  TestSession session(FourStreamPlan(), RunOn::kTimed);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(ExecutorFailureTest, AKernelThatNoLibraryHasIsRefusedByName) {
  TestSession session(FourStreamPlan(1, DeviceKind::kCuda));
  EXPECT_EQ(session.status().message(),
            "entry @f: gpu:0/compute: command 1 kernel add %sum: "
            "found no kernel for `test.eval` on gpu:0; asked: test (found a "
            "GPU; expected a CPU)");
}

}  // namespace
}  // namespace partita
