// Reads the process's mapped files.
// SPDX-License-Identifier: Apache-2.0

#include "partita/testing/linked_libraries.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace partita {

void ExpectOnlyWhatRunsPlans() {
  std::ifstream maps("/proc/self/maps");
  const std::string files(std::istreambuf_iterator<char>(maps), {});
  ASSERT_TRUE(absl::StrContains(files, "libdnnl")) << files;
  for (const char* stranger :
       {"libLLVM", "libprotobuf", "libonnx", "placement", "Spasses"}) {
    EXPECT_FALSE(absl::StrContains(files, stranger)) << stranger;
  }
}

}  // namespace partita
