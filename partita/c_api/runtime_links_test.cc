// The libraries of a C program that only loads and runs plans.
// SPDX-License-Identifier: Apache-2.0

#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/testing/linked_libraries.h"

namespace partita::c_api {
namespace {

// The test links only //partita/c_api:runtime.
TEST(CApiRuntimeLinksTest, NoCompilerComesWithTheRuntime) {
  // Uses a plan and a session, so that the linker keeps their libraries.
  partita_plan* plan = nullptr;
  partita_session* session = nullptr;
  EXPECT_EQ(partita_plan_load("/nowhere/x.plan", &plan, nullptr),
            PARTITA_NOT_FOUND);
  EXPECT_EQ(partita_session_new(plan, nullptr, &session, nullptr),
            PARTITA_INVALID_HANDLE);
  ExpectOnlyWhatRunsPlans();
}

}  // namespace
}  // namespace partita::c_api
