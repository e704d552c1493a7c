// Tests which thread feeds which stream, and in which order.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/launcher.h"

#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/device/host_device.h"
#include "runtime/executor/command_observer.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

// Records the thread that each command was fed by, in order.
class ThreadObserver : public CommandObserver {
 public:
  void Before(uint64_t step, CommandId command) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    fed_[std::this_thread::get_id()].push_back(command.index);
  }
  void After(uint64_t step, CommandId command) override {}

  // The commands of each thread.
  std::set<std::vector<int>> ByThread() const {
    std::set<std::vector<int>> commands;
    for (const auto& [thread, fed] : fed_) commands.insert(fed);
    return commands;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<int>> fed_;
};

// The commands that each thread feeds in one step of FourStreamPlan.
std::set<std::vector<int>> FedByThread(std::shared_ptr<Plan> plan,
                                       Devices devices) {
  const TestLibrary library;
  const LateLibrary late_library(library);
  ThreadObserver observer;
  const auto executor =
      Executor::New(std::move(plan), std::move(devices),
                    {&library, &late_library}, {.observer = &observer});
  EXPECT_TRUE(executor.ok()) << executor.status();
  const Floats x = Ramp(3);
  Floats y(kElements);
  const void* in = x.data();
  void* out = y.data();
  const absl::Status run = (*executor)->Run(0, {{&in, 1}, {&out, 1}});
  EXPECT_TRUE(run.ok()) << run;
  EXPECT_EQ(y, Expected(x));
  return observer.ByThread();
}

TEST(Launcher, OneThreadFeedsAllStreamsBehindTheHostInLaunchOrder) {
  const auto plan = FourStreamPlan(1, DeviceKind::kCuda);
  std::vector<int> all(13);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(FedByThread(plan, NewDevices(*plan, RunOn::kLate)),
            std::set<std::vector<int>>{all});
}

TEST(Launcher, AStreamOfTheHostHasAThreadOfItsOwn) {
  const auto plan = FourStreamPlan();
  EXPECT_EQ(FedByThread(plan, NewDevices(*plan, RunOn::kCpu)),
            (std::set<std::vector<int>>{
                {0, 1, 2}, {3, 4, 5, 6}, {7, 8, 9, 10}, {11, 12}}));
}

// The second device's two streams run on the host.
TEST(Launcher, StreamsOfBothKindsWaitForOneAnother) {
  const auto plan = FourStreamPlan(1, DeviceKind::kCuda);
  Devices devices = NewDevices(*plan, RunOn::kLate);
  plan->devices[1].traits.kind = DeviceKind::kCpu;
  devices[1] = NewCpuDevice(plan->devices[1].traits);
  EXPECT_EQ(FedByThread(plan, std::move(devices)),
            (std::set<std::vector<int>>{
                {0, 1, 2, 3, 4, 5, 6}, {7, 8, 9, 10}, {11, 12}}));
}

}  // namespace
}  // namespace partita
