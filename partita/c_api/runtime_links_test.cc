// The libraries of a C program that only loads and runs plans.
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"

namespace partita::c_api {
namespace {

// The libraries of this process, which links only //partita/c_api:runtime.
std::string MappedFiles() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

TEST(CApiRuntimeLinksTest, NoCompilerComesWithTheRuntime) {
  // Uses a plan and a session, so that the linker keeps their libraries.
  partita_plan* plan = nullptr;
  partita_session* session = nullptr;
  EXPECT_EQ(partita_plan_load("/nowhere/x.plan", &plan, nullptr),
            PARTITA_NOT_FOUND);
  EXPECT_EQ(partita_session_new(plan, nullptr, &session, nullptr),
            PARTITA_INVALID_HANDLE);
  const std::string files = MappedFiles();
  ASSERT_TRUE(absl::StrContains(files, "libdnnl")) << files;
  for (const char* stranger :
       {"libLLVM", "libprotobuf", "libonnx", "placement", "Spasses"}) {
    EXPECT_FALSE(absl::StrContains(files, stranger)) << stranger;
  }
}

}  // namespace
}  // namespace partita::c_api
