// The libraries of a program that only loads and runs plans.
// SPDX-License-Identifier: Apache-2.0

#include "gtest/gtest.h"
#include "partita/session.h"
#include "partita/testing/linked_libraries.h"

namespace partita {
namespace {

// The test links only //partita:session.
TEST(SessionLinksTest, NoCompilerComesWithASession) {
  // Uses the session, so that the linker keeps its libraries.
  EXPECT_FALSE(Session::Load("/nowhere/x.plan").ok());
  ExpectOnlyWhatRunsPlans();
}

}  // namespace
}  // namespace partita
