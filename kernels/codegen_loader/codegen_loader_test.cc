// Effects of building native code on the process, and the message for a full
// disk.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/codegen_loader.h"

#include <signal.h>
#include <sys/resource.h>

#include <vector>

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen/read_program.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// The handler of each signal; null for those that cannot be queried.
std::vector<void (*)(int)> SignalHandlers() {
  std::vector<void (*)(int)> handlers;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    const bool known = sigaction(signal, nullptr, &action) == 0;
    handlers.push_back(known ? action.sa_handler : nullptr);
  }
  return handlers;
}

TEST(CodegenLoader, SignalsStayWhatTheProcessMadeThem) {
  signal(SIGINT, SIG_IGN);
  const auto before = SignalHandlers();
  OneNode root(kSqrt, {{DType::kF32, {4}, {}}});
  for (int i = 0; i < 2; ++i) {
    const auto program = ReadProgram(root.node(), "avx2");
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_TRUE(BuildSharedObject({*program}, "avx2").ok());
    EXPECT_EQ(SignalHandlers(), before);
  }
  signal(SIGINT, SIG_DFL);
}

// As on a full disk: lld would end the process if it read a partial file.
TEST(CodegenLoader, AFullFolderIsReportedByName) {
  const OneNode root(kSqrt, {{DType::kF32, {4}, {}}});
  const auto program = ReadProgram(root.node(), "avx2");
  ASSERT_TRUE(program.ok()) << program.status();
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit usual;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit small = {512, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto object = BuildSharedObject({*program}, "avx2");
  setrlimit(RLIMIT_FSIZE, &usual);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(absl::EndsWith(object.status().message(),
                             "/kernels.o: cannot be written: File too large; "
                             "set TMPDIR to a folder with room"))
      << object.status();
}

}  // namespace
}  // namespace partita
