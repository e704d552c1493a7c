// The libraries of a program that only loads and runs plans.
// SPDX-License-Identifier: Apache-2.0

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "partita/session.h"

namespace partita {
namespace {

// The libraries of this process, which links only //partita:session.
std::string MappedFiles() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

TEST(SessionLinksTest, NoCompilerComesWithASession) {
  // Uses the session, so that the linker keeps its libraries.
  EXPECT_FALSE(Session::Load("/nowhere/x.plan").ok());
  const std::string files = MappedFiles();
  ASSERT_TRUE(absl::StrContains(files, "libdnnl")) << files;
  for (const char* stranger :
       {"libLLVM", "libprotobuf", "libonnx", "placement", "Spasses"}) {
    EXPECT_FALSE(absl::StrContains(files, stranger)) << stranger;
  }
}

}  // namespace
}  // namespace partita
