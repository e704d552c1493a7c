// Handles that were freed. Their memory is accessed, which a sanitizer reports.
// SPDX-License-Identifier: Apache-2.0

#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"

namespace partita::c_api {
namespace {

TEST(CApiFreedHandlesTest, AFreedSessionIsRefused) {
  const Caught caught;
  partita_session* const session = SessionFromText(kTwoDevices).release();
  ASSERT_EQ(partita_session_free(session), PARTITA_OK);
  EXPECT_EQ(partita_session_run(session, nullptr, caught.get()),
            PARTITA_INVALID_HANDLE);
  EXPECT_EQ(caught.message(),
            "session: found a handle that was freed or is of another kind; "
            "expected a handle that its _new or _load function returned");
  EXPECT_EQ(partita_session_free(session), PARTITA_INVALID_HANDLE);
}

TEST(CApiFreedHandlesTest, AFreedPlanIsRefused) {
  partita_plan* const plan = PlanFromText(kTwoDevices).release();
  ASSERT_EQ(partita_plan_free(plan), PARTITA_OK);
  const char* name = "";
  EXPECT_EQ(partita_plan_name(plan, &name, nullptr), PARTITA_INVALID_HANDLE);
  EXPECT_EQ(partita_plan_free(plan), PARTITA_INVALID_HANDLE);
}

TEST(CApiFreedHandlesTest, AFreedStatusAndAFreedCancelAreRefused) {
  partita_cancel* cancel = nullptr;
  ASSERT_EQ(partita_cancel_new(&cancel, nullptr), PARTITA_OK);
  ASSERT_EQ(partita_cancel_free(cancel), PARTITA_OK);
  EXPECT_EQ(partita_cancel_request(cancel, nullptr), PARTITA_INVALID_HANDLE);
  partita_status* const status = partita_status_new();
  ASSERT_EQ(partita_status_free(status), PARTITA_OK);
  EXPECT_EQ(partita_status_code(status), PARTITA_INVALID_HANDLE);
  EXPECT_EQ(partita_status_free(status), PARTITA_INVALID_HANDLE);
}

}  // namespace
}  // namespace partita::c_api
