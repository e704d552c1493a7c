// Handles that are NULL or of another kind.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

constexpr char kNullSession[] =
    "session: found NULL; expected a handle that its _new or _load function "
    "returned";
constexpr char kWrongSession[] =
    "session: found a handle that was freed or is of another kind; expected a "
    "handle that its _new or _load function returned";

// Every function of a session with an invalid one.
void ExpectNoSession(partita_session* session, const std::string& message) {
  const Caught caught;
  partita_status* const status = caught.get();
  size_t count = 1;
  uint64_t step = 1;
  int32_t depth = 1;
  const char* text = "";
  partita_tensor tensor = partita_tensor_empty();
  partita_memory memory = partita_memory_empty();
  const auto expect = [&](partita_code code) {
    EXPECT_EQ(code, PARTITA_INVALID_HANDLE);
    EXPECT_EQ(caught.code(), PARTITA_INVALID_HANDLE);
    EXPECT_EQ(caught.message(), message);
  };
  expect(partita_session_notice(session, &text, status));
  expect(partita_session_use_entry(session, "f", status));
  expect(partita_session_depth(session, &depth, status));
  expect(partita_session_num_inputs(session, &count, status));
  expect(partita_session_num_outputs(session, &count, status));
  expect(partita_session_find_input(session, "x", &count, status));
  expect(partita_session_find_output(session, "y", &count, status));
  expect(partita_session_input_name(session, 0, &text, status));
  expect(partita_session_output_name(session, 0, &text, status));
  expect(partita_session_input_type(session, 0, &tensor, status));
  expect(partita_session_output_type(session, 0, &tensor, status));
  expect(partita_session_set_input(session, 0, &tensor, status));
  expect(partita_session_bind_input(session, 0, &tensor, status));
  expect(partita_session_bind_output(session, 0, &tensor, status));
  expect(partita_session_get_output(session, 0, &tensor, status));
  expect(partita_session_run(session, nullptr, status));
  expect(partita_session_submit(session, nullptr, &step, status));
  expect(partita_session_wait(session, 0, status));
  expect(partita_session_write_trace(session, "x", status));
  expect(partita_session_num_variables(session, &count, status));
  expect(partita_session_variable_name(session, 0, &text, status));
  expect(partita_session_variable_type(session, 0, &tensor, status));
  expect(partita_session_read_variable(session, 0, &tensor, status));
  expect(partita_session_write_variable(session, 0, &tensor, status));
  expect(partita_session_restore(session, status));
  expect(partita_session_num_devices(session, &count, status));
  expect(partita_session_device_name(session, 0, &text, status));
  expect(partita_session_memory(session, 0, &memory, status));
}

TEST(CApiHandlesTest, NullIsNoSession) {
  ExpectNoSession(nullptr, kNullSession);
}

TEST(CApiHandlesTest, AnotherHandleIsNoSession) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  auto* const session = reinterpret_cast<partita_session*>(plan.get());
  ExpectNoSession(session, kWrongSession);
  EXPECT_EQ(partita_session_free(session), PARTITA_INVALID_HANDLE);
  // The plan still exists.
  size_t entries = 0;
  EXPECT_EQ(partita_plan_num_entries(plan.get(), &entries, nullptr),
            PARTITA_OK);
}

TEST(CApiHandlesTest, AnAddressInsideOfAHandleIsNoHandle) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  auto* const inside = reinterpret_cast<char*>(plan.get()) + 1;
  EXPECT_EQ(partita_plan_free(reinterpret_cast<partita_plan*>(inside)),
            PARTITA_INVALID_HANDLE);
}

void ExpectNoPlan(partita_plan* plan) {
  const Caught caught;
  partita_status* const status = caught.get();
  const char* text = "";
  size_t count = 1;
  partita_session* session = nullptr;
  for (const partita_code code :
       {partita_plan_write(plan, "x", status),
        partita_plan_name(plan, &text, status),
        partita_plan_summary(plan, &text, status),
        partita_plan_warnings(plan, &text, status),
        partita_plan_num_entries(plan, &count, status),
        partita_plan_entry_name(plan, 0, &text, status),
        partita_session_new(plan, nullptr, &session, status)}) {
    EXPECT_EQ(code, PARTITA_INVALID_HANDLE);
  }
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(session, nullptr);
}

TEST(CApiHandlesTest, NullAndOtherHandlesAreNoPlans) {
  ExpectNoPlan(nullptr);
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  ExpectNoPlan(reinterpret_cast<partita_plan*>(session.get()));
}

TEST(CApiHandlesTest, NullAndOtherHandlesAreNoCancels) {
  EXPECT_EQ(partita_cancel_request(nullptr, nullptr), PARTITA_INVALID_HANDLE);
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  auto* const cancel = reinterpret_cast<partita_cancel*>(session.get());
  EXPECT_EQ(partita_cancel_request(cancel, nullptr), PARTITA_INVALID_HANDLE);
  EXPECT_EQ(partita_cancel_free(cancel), PARTITA_INVALID_HANDLE);
  EXPECT_EQ(partita_cancel_new(nullptr, nullptr), PARTITA_INVALID_ARGUMENT);
}

TEST(CApiHandlesTest, AnotherHandleIsNoStatus) {
  const Owned<partita_session> session = SessionFromText(kTwoDevices);
  auto* const status = reinterpret_cast<partita_status*>(session.get());
  size_t inputs = 7;
  EXPECT_EQ(partita_session_num_inputs(session.get(), &inputs, status),
            PARTITA_INVALID_HANDLE);
  EXPECT_EQ(inputs, 7u);
  EXPECT_EQ(partita_status_code(status), PARTITA_INVALID_HANDLE);
  EXPECT_STREQ(partita_status_message(status),
               "status: found NULL, or a handle that was freed or is of "
               "another kind; expected one of partita_status_new");
  EXPECT_EQ(partita_status_free(status), PARTITA_INVALID_HANDLE);
}

TEST(CApiHandlesTest, NullIsFreedWithoutAnError) {
  EXPECT_EQ(partita_status_free(nullptr), PARTITA_OK);
  EXPECT_EQ(partita_plan_free(nullptr), PARTITA_OK);
  EXPECT_EQ(partita_session_free(nullptr), PARTITA_OK);
  EXPECT_EQ(partita_cancel_free(nullptr), PARTITA_OK);
  EXPECT_EQ(partita_status_code(nullptr), PARTITA_INVALID_HANDLE);
}

TEST(CApiHandlesTest, NullForAResultIsRefused) {
  const Owned<partita_plan> plan = PlanFromText(kTwoDevices);
  const Owned<partita_session> session = SessionOf(plan.get());
  EXPECT_EQ(partita_session_new(plan.get(), nullptr, nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_num_inputs(session.get(), nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_input_name(session.get(), 0, nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_input_type(session.get(), 0, nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_submit(session.get(), nullptr, nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(partita_session_memory(session.get(), 0, nullptr, nullptr),
            PARTITA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace partita::c_api
