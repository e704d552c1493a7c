// One plan, used by several threads at the same time.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

constexpr int kThreads = 4;

constexpr char kModel[] = R"(
graph @sum(%x: f32[64]) -> f32[64] {
  %w = constant f32[] 3
  %y = add %x, %w : f32[64]
  return %y
}
)";

constexpr char kMachine[] = R"({"name": "one", "devices": [
  {"name": "cpu:0", "kind": "cpu", "memory": "1 MiB",
   "peak_flops": {"f32": 1e11}, "memory_bandwidth": 1e10}]})";

std::string PathOf(absl::string_view name) {
  return absl::StrCat(testing::TempDir(), "/", name);
}

Owned<partita_plan> CompiledPlan() {
  const std::string model = PathOf("sum.graph");
  const std::string machine = PathOf("one.json");
  WriteBytes(model, kModel);
  WriteBytes(machine, kMachine);
  const std::string option = absl::StrCat("machine=", machine);
  const char* const options[] = {option.c_str(), "strategy=single"};
  const Caught caught;
  partita_plan* plan = nullptr;
  EXPECT_EQ(partita_compile(model.c_str(), options, 2, &plan, caught.get()),
            PARTITA_OK)
      << caught.message();
  return Owned<partita_plan>(plan);
}

// Everything that a thread does with the plan; the first element of the output.
float UsePlan(partita_plan* plan, int thread) {
  const std::string path = PathOf(absl::StrCat("thread_", thread, ".plan"));
  EXPECT_EQ(partita_plan_write(plan, path.c_str(), nullptr), PARTITA_OK);
  const char* name = nullptr;
  EXPECT_EQ(partita_plan_name(plan, &name, nullptr), PARTITA_OK);
  const Owned<partita_session> session =
      SessionOf(plan, PARTITA_DEVICES_VIRTUAL);
  std::vector<float> x(64, static_cast<float>(thread));
  const partita_tensor value = FloatsOf({64}, x);
  EXPECT_EQ(partita_session_bind_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  return OutputFloats(session.get())[0];
}

void ExpectThreadsGetTheirOwnValues(partita_plan* plan) {
  std::array<float, kThreads> outputs = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] { outputs[t] = UsePlan(plan, t); });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(outputs[t], t + 3.0f);
}

TEST(CApiManyThreadsTest, ThreadsShareACompiledPlan) {
  ExpectThreadsGetTheirOwnValues(CompiledPlan().get());
}

TEST(CApiManyThreadsTest, ThreadsShareAPlanInMemory) {
  const std::string path = PathOf("shared.plan");
  ASSERT_EQ(partita_plan_write(CompiledPlan().get(), path.c_str(), nullptr),
            PARTITA_OK);
  ExpectThreadsGetTheirOwnValues(PlanFromBytes(FileBytes(path)).get());
}

TEST(CApiManyThreadsTest, AnotherThreadCancelsAStep) {
  const Owned<partita_plan> plan = CompiledPlan();
  const Owned<partita_session> session =
      SessionOf(plan.get(), PARTITA_DEVICES_VIRTUAL);
  partita_cancel* cancel = nullptr;
  ASSERT_EQ(partita_cancel_new(&cancel, nullptr), PARTITA_OK);
  const Owned<partita_cancel> owned(cancel);
  std::vector<float> x(64);
  const partita_tensor value = FloatsOf({64}, x);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  partita_run_options options = partita_run_options_default();
  options.cancel = cancel;
  std::atomic<bool> requested = false;
  std::thread other([&] {
    EXPECT_EQ(partita_cancel_request(cancel, nullptr), PARTITA_OK);
    requested = true;
  });
  // The last step starts after the request, if none before it was cancelled.
  partita_code code = PARTITA_OK;
  for (bool is_last = false; code == PARTITA_OK && !is_last;) {
    is_last = requested;
    code = partita_session_run(session.get(), &options, nullptr);
  }
  other.join();
  EXPECT_EQ(code, PARTITA_CANCELLED);
}

}  // namespace
}  // namespace partita::c_api
