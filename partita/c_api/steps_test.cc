// Steps through the C API: overlapping ones, failures, traces, other threads.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/session_handle.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

// kTwoDevices with two steps in flight.
std::string Overlapping() {
  return absl::StrReplaceAll(kTwoDevices, {{"depth 1", "depth 2"}});
}

Owned<partita_cancel> NewCancel() {
  partita_cancel* cancel = nullptr;
  EXPECT_EQ(partita_cancel_new(&cancel, nullptr), PARTITA_OK);
  return Owned<partita_cancel>(cancel);
}

// A session whose input 0 is set to `values`.
Owned<partita_session> SessionWith(absl::string_view plan,
                                   std::initializer_list<int64_t> dims,
                                   std::vector<float> values) {
  Owned<partita_session> session = SessionFromText(plan);
  const partita_tensor value = FloatsOf(dims, values);
  EXPECT_EQ(partita_session_set_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  return session;
}

Owned<partita_session> Counter() { return SessionWith(kCounter, {2}, {1, 2}); }

// The message of a step that must fail with `code`.
std::string RunFailure(partita_session* session,
                       const partita_run_options& options, partita_code code) {
  const Caught caught;
  EXPECT_EQ(partita_session_run(session, &options, caught.get()), code)
      << caught.message();
  return caught.message();
}

TEST(CApiStepsTest, StepsOverlapAndReadTheirOwnBindings) {
  const Owned<partita_session> session = SessionFromText(Overlapping());
  const Caught caught;
  std::vector<float> x[2] = {{1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 12}};
  std::vector<float> y[2] = {std::vector<float>(4), std::vector<float>(4)};
  uint64_t steps[2];
  for (int i = 0; i < 2; ++i) {
    const partita_tensor input = FloatsOf({2, 3}, x[i]);
    const partita_tensor output = FloatsOf({2, 2}, y[i]);
    ASSERT_EQ(partita_session_bind_input(session.get(), 0, &input, nullptr),
              PARTITA_OK);
    ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
              PARTITA_OK);
    ASSERT_EQ(
        partita_session_submit(session.get(), nullptr, &steps[i], caught.get()),
        PARTITA_OK)
        << caught.message();
  }
  for (const uint64_t step : steps) {
    ASSERT_EQ(partita_session_wait(session.get(), step, caught.get()),
              PARTITA_OK)
        << caught.message();
  }
  EXPECT_EQ(y[0], (std::vector<float>{22, 0, 49, 0}));
  EXPECT_EQ(y[1], (std::vector<float>{44, 0, 98, 0}));
}

TEST(CApiStepsTest, NoMoreStepsStartThanThePlanHasRoomFor) {
  const Owned<partita_session> session = Counter();
  const Caught caught;
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), nullptr, &step, nullptr),
            PARTITA_OK);
  uint64_t second = 0;
  EXPECT_EQ(
      partita_session_submit(session.get(), nullptr, &second, caught.get()),
      PARTITA_FAILED_PRECONDITION);
  EXPECT_TRUE(absl::StrContains(caught.message(),
                                "expected fewer than the plan's depth of 1"))
      << caught.message();
  EXPECT_EQ(partita_session_run(session.get(), nullptr, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            absl::StrCat("session: found 1 step in flight; expected none; "
                         "wait for step ",
                         step, " first"));
  EXPECT_EQ(partita_session_wait(session.get(), step, nullptr), PARTITA_OK);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{11, 22}));
}

TEST(CApiStepsTest, OnlyTheOldestStepIsWaitedFor) {
  const Owned<partita_session> session = Counter();
  const Caught caught;
  EXPECT_EQ(partita_session_wait(session.get(), 0, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "session: found a wait for step 0; expected the oldest in flight, "
            "but there is none");
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), nullptr, &step, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_wait(session.get(), step + 1, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            absl::StrCat("session: found a wait for step ", step + 1,
                         "; expected the oldest in flight, ", step));
  EXPECT_EQ(partita_session_wait(session.get(), step, nullptr), PARTITA_OK);
}

TEST(CApiStepsTest, StepsInFlightProtectTheMemoryOfTheSession) {
  const Owned<partita_session> session = Counter();
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), nullptr, &step, nullptr),
            PARTITA_OK);
  std::vector<float> values(2);
  partita_tensor value = FloatsOf({2}, values);
  EXPECT_EQ(partita_session_set_input(session.get(), 0, &value, nullptr),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(partita_session_read_variable(session.get(), 0, &value, nullptr),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(partita_session_restore(session.get(), nullptr),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(partita_session_get_output(session.get(), 0, &value, nullptr),
            PARTITA_FAILED_PRECONDITION);
  // These are for later steps.
  EXPECT_EQ(partita_session_bind_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_bind_output(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_wait(session.get(), step, nullptr), PARTITA_OK);
  EXPECT_EQ(values, (std::vector<float>{0, 0}));
}

TEST(CApiStepsTest, OverlappingStepsNeedBoundOutputs) {
  const Owned<partita_session> session =
      SessionWith(Overlapping(), {2, 3}, {1, 2, 3, 4, 5, 6});
  const Caught caught;
  uint64_t step = 9;
  EXPECT_EQ(partita_session_submit(session.get(), nullptr, &step, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(step, 0u);
  EXPECT_EQ(caught.message(),
            "output y: found no binding, and up to 2 steps in flight; expected "
            "memory of the caller; call partita_session_bind_output before "
            "each step");
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  // Memory of the session is no binding either.
  EXPECT_EQ(partita_session_submit(session.get(), nullptr, &step, nullptr),
            PARTITA_FAILED_PRECONDITION);
}

TEST(CApiStepsTest, ASubmittedStepNeedsItsInputs) {
  const Owned<partita_session> session = SessionFromText(kCounter);
  const Caught caught;
  uint64_t step = 0;
  EXPECT_EQ(partita_session_submit(session.get(), nullptr, &step, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_TRUE(absl::StartsWith(caught.message(), "input x: found no value; "));
}

TEST(CApiStepsTest, ASessionMayBeFreedWithStepsInFlight) {
  Owned<partita_session> session = Counter();
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), nullptr, &step, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_free(session.release()), PARTITA_OK);
}

TEST(CApiStepsTest, OptionsOutOfRangeAreRefused) {
  const Owned<partita_session> session = Counter();
  partita_run_options options = partita_run_options_default();
  options.trace = 2;
  EXPECT_EQ(RunFailure(session.get(), options, PARTITA_INVALID_ARGUMENT),
            "trace: found 2; expected 0 or 1");
  options = partita_run_options_default();
  options.reserved = 1;
  EXPECT_EQ(RunFailure(session.get(), options, PARTITA_INVALID_ARGUMENT),
            "reserved: found 1; expected 0");
  options = partita_run_options_default();
  options.timeout_ms = -1;
  EXPECT_EQ(RunFailure(session.get(), options, PARTITA_INVALID_ARGUMENT),
            "timeout_ms: found -1; expected 0..1000000000000");
  options = partita_run_options_default();
  options.struct_size = 1;
  RunFailure(session.get(), options, PARTITA_INVALID_ARGUMENT);
  options = partita_run_options_default();
  options.cancel = reinterpret_cast<partita_cancel*>(session.get());
  EXPECT_EQ(RunFailure(session.get(), options, PARTITA_INVALID_HANDLE),
            "cancel: found a handle that was freed or is of another kind; "
            "expected a handle that its _new or _load function returned");
  // Nothing has happened to the variables.
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{11, 22}));
}

TEST(CApiStepsTest, ACancelledStepFailsTheSessionUntilItIsRestored) {
  const Owned<partita_session> session = Counter();
  const Owned<partita_cancel> cancel = NewCancel();
  ASSERT_EQ(partita_cancel_request(cancel.get(), nullptr), PARTITA_OK);
  partita_run_options options = partita_run_options_default();
  options.cancel = cancel.get();
  EXPECT_TRUE(absl::StrContains(
      RunFailure(session.get(), options, PARTITA_CANCELLED), "cancelled"));
  const Caught caught;
  EXPECT_EQ(partita_session_run(session.get(), nullptr, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_TRUE(
      absl::StrContains(caught.message(), "found its variables undefined"))
      << caught.message();
  EXPECT_EQ(partita_session_restore(session.get(), nullptr), PARTITA_OK);
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{11, 22}));
}

TEST(CApiStepsTest, ACancelThatIsNotRequestedDoesNothing) {
  const Owned<partita_session> session = Counter();
  Owned<partita_cancel> cancel = NewCancel();
  partita_run_options options = partita_run_options_default();
  options.cancel = cancel.get();
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), &options, &step, nullptr),
            PARTITA_OK);
  cancel.reset();  // before the step has ended
  EXPECT_EQ(partita_session_wait(session.get(), step, nullptr), PARTITA_OK);
}

TEST(CApiStepsTest, AFailedSubmittedStepIsNoLongerInFlight) {
  const Owned<partita_session> session =
      SessionWith(kTwoDevices, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Owned<partita_cancel> cancel = NewCancel();
  ASSERT_EQ(partita_cancel_request(cancel.get(), nullptr), PARTITA_OK);
  partita_run_options options = partita_run_options_default();
  options.cancel = cancel.get();
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), &options, &step, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_wait(session.get(), step, nullptr),
            PARTITA_CANCELLED);
  // No variables: the session goes on.
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
}

TEST(CApiStepsTest, StepsInFlightEndTogether) {
  const Owned<partita_session> session =
      SessionWith(Overlapping(), {2, 3}, {1, 2, 3, 4, 5, 6});
  std::vector<float> y(4);
  const partita_tensor output = FloatsOf({2, 2}, y);
  ASSERT_EQ(partita_session_bind_output(session.get(), 0, &output, nullptr),
            PARTITA_OK);
  uint64_t first = 0, second = 0, third = 0;
  ASSERT_EQ(partita_session_submit(session.get(), nullptr, &first, nullptr),
            PARTITA_OK);
  const Owned<partita_cancel> cancel = NewCancel();
  ASSERT_EQ(partita_cancel_request(cancel.get(), nullptr), PARTITA_OK);
  partita_run_options options = partita_run_options_default();
  options.cancel = cancel.get();
  ASSERT_EQ(partita_session_submit(session.get(), &options, &second, nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_wait(session.get(), first, nullptr),
            PARTITA_CANCELLED);
  EXPECT_EQ(partita_session_submit(session.get(), nullptr, &third, nullptr),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(partita_session_wait(session.get(), second, nullptr),
            PARTITA_CANCELLED);
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  EXPECT_EQ(y, (std::vector<float>{22, 0, 49, 0}));
}

std::string TracePath() {
  return absl::StrCat(testing::TempDir(), "/trace.json");
}

TEST(CApiTraceTest, ATracedStepIsWritten) {
  const Owned<partita_session> session =
      SessionWith(kTwoDevices, {2, 3}, {1, 2, 3, 4, 5, 6});
  partita_run_options options = partita_run_options_default();
  options.trace = 1;
  ASSERT_EQ(partita_session_run(session.get(), &options, nullptr), PARTITA_OK);
  const Caught caught;
  ASSERT_EQ(partita_session_write_trace(session.get(), TracePath().c_str(),
                                        caught.get()),
            PARTITA_OK)
      << caught.message();
  const std::string text = FileBytes(TracePath());
  for (const char* part : {"traceEvents", "matmul %h", "relu %y", "cpu:1"}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part;
  }
}

TEST(CApiTraceTest, ASubmittedStepHasATraceToo) {
  const Owned<partita_session> session = Counter();
  partita_run_options options = partita_run_options_default();
  options.trace = 1;
  uint64_t step = 0;
  ASSERT_EQ(partita_session_submit(session.get(), &options, &step, nullptr),
            PARTITA_OK);
  EXPECT_EQ(
      partita_session_write_trace(session.get(), TracePath().c_str(), nullptr),
      PARTITA_FAILED_PRECONDITION);
  ASSERT_EQ(partita_session_wait(session.get(), step, nullptr), PARTITA_OK);
  ASSERT_EQ(
      partita_session_write_trace(session.get(), TracePath().c_str(), nullptr),
      PARTITA_OK);
  EXPECT_TRUE(absl::StrContains(FileBytes(TracePath()), "add %n"));
}

TEST(CApiTraceTest, WithoutATraceThereIsNothingToWrite) {
  const Owned<partita_session> session = Counter();
  const Caught caught;
  const char* const path = "/nowhere/trace.json";
  EXPECT_EQ(partita_session_write_trace(session.get(), path, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "session: found no trace; expected one of the last step; run it "
            "with partita_run_options.trace = 1");
  partita_run_options options = partita_run_options_default();
  options.trace = 1;
  ASSERT_EQ(partita_session_run(session.get(), &options, nullptr), PARTITA_OK);
  EXPECT_NE(partita_session_write_trace(session.get(), path, caught.get()),
            PARTITA_OK);
  EXPECT_TRUE(absl::StrContains(caught.message(), path)) << caught.message();
  EXPECT_EQ(partita_session_write_trace(session.get(), nullptr, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(), "path: found NULL; expected the name of a file");
  // The next step has no trace.
  ASSERT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  EXPECT_EQ(partita_session_write_trace(session.get(), path, nullptr),
            PARTITA_FAILED_PRECONDITION);
}

TEST(CApiTraceTest, ATraceBelongsToItsEntry) {
  const Owned<partita_session> session = SessionWith(kTwoEntries, {2}, {3, 4});
  partita_run_options options = partita_run_options_default();
  options.trace = 1;
  ASSERT_EQ(partita_session_run(session.get(), &options, nullptr), PARTITA_OK);
  ASSERT_EQ(partita_session_use_entry(session.get(), "square", nullptr),
            PARTITA_OK);
  const Caught caught;
  EXPECT_EQ(partita_session_write_trace(session.get(), TracePath().c_str(),
                                        caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "session: found a trace of entry @twice; expected one of entry "
            "@square, which is in use; call partita_session_use_entry first");
  ASSERT_EQ(partita_session_use_entry(session.get(), "twice", nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_write_trace(session.get(), TracePath().c_str(),
                                        caught.get()),
            PARTITA_OK);
}

TEST(CApiStepsTest, EntriesHaveBindingsOfTheirOwn) {
  const Owned<partita_session> session = SessionWith(kTwoEntries, {2}, {3, 4});
  ASSERT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  ASSERT_EQ(partita_session_use_entry(session.get(), "square", nullptr),
            PARTITA_OK);
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr),
            PARTITA_FAILED_PRECONDITION);  // x is not set
  std::vector<float> x = {5, 6};
  const partita_tensor value = FloatsOf({2}, x);
  ASSERT_EQ(partita_session_bind_input(session.get(), 0, &value, nullptr),
            PARTITA_OK);
  ASSERT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{25, 36}));
  ASSERT_EQ(partita_session_use_entry(session.get(), "twice", nullptr),
            PARTITA_OK);
  EXPECT_EQ(OutputFloats(session.get()), (std::vector<float>{6, 8}));
}

// Another thread is at work.
TEST(CApiThreadsTest, ASecondCallIsRefusedAndNotDelayed) {
  Owned<partita_session> session = Counter();
  session->busy = true;
  const Caught caught;
  EXPECT_EQ(partita_session_run(session.get(), nullptr, caught.get()),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(caught.message(),
            "session: found a second call while one is at work; expected one "
            "at a time; make a session of the plan for each thread");
  int32_t depth = 0;
  EXPECT_EQ(partita_session_depth(session.get(), &depth, nullptr),
            PARTITA_FAILED_PRECONDITION);
  EXPECT_EQ(partita_session_free(session.get()), PARTITA_FAILED_PRECONDITION);
  session->busy = false;
  EXPECT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
}

}  // namespace
}  // namespace partita::c_api
