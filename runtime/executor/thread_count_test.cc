// Tests of the thread count of a plan.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/thread_count.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "runtime/executor/test_session.h"

namespace partita {
namespace {

// Two devices of 100 threads each and four streams; two run kernels.
std::shared_ptr<Plan> ThreadPoolPlan() {
  std::shared_ptr<Plan> plan = FourStreamPlan();
  for (PlanDevice& device : plan->devices) device.traits.threads = 100;
  return plan;
}

int64_t Threads(RunOn run_on) {
  const std::shared_ptr<Plan> plan = ThreadPoolPlan();
  return ThreadsOf(plan->entries[0], NewDevices(*plan, run_on));
}

// Independent of the environment of the test run.
class ThreadCount : public testing::Test {
 protected:
  void SetUp() override {
    const char* limit = std::getenv("OMP_THREAD_LIMIT");
    if (limit != nullptr) limit_ = limit;
    unsetenv("OMP_THREAD_LIMIT");
  }
  void TearDown() override {
    unsetenv("OMP_THREAD_LIMIT");
    if (limit_.has_value()) setenv("OMP_THREAD_LIMIT", limit_->c_str(), 1);
  }

 private:
  std::optional<std::string> limit_;
};

TEST_F(ThreadCount, StreamsThatRunKernelsHaveThreadPools) {
  EXPECT_EQ(Threads(RunOn::kVirtual), 2 + 2 * 100);
  EXPECT_EQ(Threads(RunOn::kCpu), 2 + 2 * 100);
}

TEST_F(ThreadCount, DevicesThatSleepHaveStreamsOnly) {
  EXPECT_EQ(Threads(RunOn::kTimed), 4);
}

TEST_F(ThreadCount, StreamsThatRunBehindTheHostShareOneThread) {
  EXPECT_EQ(Threads(RunOn::kLate), 1);
}

TEST_F(ThreadCount, ThreadPoolsAreNoLargerThanOpenMpAllows) {
  ASSERT_EQ(setenv("OMP_THREAD_LIMIT", "3", /*replace=*/1), 0);
  EXPECT_EQ(Threads(RunOn::kVirtual), 2 + 2 * 3);
}

TEST_F(ThreadCount, EntriesShareWhatTheProcessMayHave) {
  const std::shared_ptr<Plan> plan = ThreadPoolPlan();
  const Devices devices = NewDevices(*plan, RunOn::kVirtual);
  EXPECT_TRUE(CheckThreads(*plan, devices, 202).ok());
  plan->entries.push_back(plan->entries[0]);
  const absl::Status status = CheckThreads(*plan, devices, 403);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(
      status.message(),
      "plan @hand_made: found streams and kernels of 2 devices that take 404 "
      "threads; expected at most the 403 that this process may have; "
      "compile for fewer devices or threads, or set OMP_THREAD_LIMIT to "
      "the threads that a kernel may have");
}

// Each device is within the limit, but all together are not.
TEST_F(ThreadCount, APlanOfTooManyThreadsIsRefusedBeforeAnyStarts) {
  const std::shared_ptr<Plan> plan = ThreadPoolPlan();
  for (PlanDevice& device : plan->devices) device.traits.threads = 1 << 20;
  const TestSession session(plan, RunOn::kVirtual);
  EXPECT_EQ(session.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace partita
