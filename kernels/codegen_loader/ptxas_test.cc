// The toolkit's assembler takes generated PTX for each architecture, and needs
// neither stack nor spills.
// SPDX-License-Identifier: Apache-2.0

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"

namespace partita {
namespace {

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

std::string FindPtxas() {
  const char* home = std::getenv("CUDA_HOME");
  const std::string path =
      absl::StrCat(home == nullptr ? "/usr/local/cuda" : home, "/bin/ptxas");
  return access(path.c_str(), X_OK) == 0 ? path : "";
}

// What a command prints; its status is in `status`.
std::string OutputOf(const std::string& command, int& status) {
  FILE* pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  std::string output;
  char part[4096];
  size_t size = 0;
  while (pipe != nullptr &&
         (size = std::fread(part, 1, sizeof part, pipe)) > 0) {
    output.append(part, size);
  }
  status = pipe == nullptr ? -1 : pclose(pipe);
  return output;
}

struct Assembled {
  int kernels = 0;
  int with_stack_or_spills = 0;
  int most_registers = 0;
};

// From the lines "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill
// loads" and "Used 32 registers, ..." of each kernel.
Assembled ReadReport(const std::string& output) {
  Assembled read;
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    int stack = 0, stores = 0, loads = 0, registers = 0;
    const std::string text(line);
    if (std::sscanf(text.c_str(),
                    " %d bytes stack frame, %d bytes spill stores, %d bytes "
                    "spill loads",
                    &stack, &stores, &loads) == 3) {
      ++read.kernels;
      read.with_stack_or_spills += stack + stores + loads > 0;
    }
    const size_t used = text.find("Used ");
    if (used != std::string::npos &&
        std::sscanf(text.c_str() + used, "Used %d registers", &registers) ==
            1) {
      read.most_registers = std::max(read.most_registers, registers);
    }
  }
  return read;
}

TEST(Ptxas, NoKernelHasAStackFrameOrSpills) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) {
    GTEST_SKIP() << "found no ptxas; set CUDA_HOME to a CUDA toolkit";
  }
  std::vector<AnyProgram> programs;
  const auto add_some = [&](const auto& samples, int one_of) {
    for (size_t i = 0; i < samples.size(); i += IsFull() ? 1 : one_of) {
      programs.push_back(samples[i].program);
    }
  };
  add_some(SamplePrograms(), 11);
  add_some(SampleRows(), 4);  // the larger kernels
  ElementwiseProgram large = BiasGeluResidual(1024, 4096);
  large.name = "large_bias_gelu_residual";
  programs.push_back(large);
  const std::string path =
      absl::StrCat(testing::TempDir(), "/generated_", getpid(), ".ptx");
  const auto assemble = [&](const char* from, const char* architecture) {
    const auto text = BuildPtx(programs, from);
    ASSERT_TRUE(text.ok()) << text.status();
    std::ofstream(path) << *text;
    int status = 0;
    const std::string output = OutputOf(
        absl::StrCat(ptxas, " -v --warn-on-spills --warning-as-error -arch=",
                     architecture, " -o /dev/null ", path),
        status);
    ASSERT_EQ(status, 0) << output.substr(0, 2000);
    const Assembled read = ReadReport(output);
    EXPECT_EQ(read.kernels, static_cast<int>(programs.size())) << architecture;
    EXPECT_EQ(read.with_stack_or_spills, 0) << architecture << output;
    // As many as kGpuThreadsWithRegisters threads have.
    EXPECT_LE(read.most_registers, 80) << architecture;
    std::printf("%s: %d kernels, at most %d registers\n", architecture,
                read.kernels, read.most_registers);
  };
  for (const char* architecture :
       {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    assemble("sm_80", architecture);
  }
  assemble("sm_90", "sm_90");
  std::remove(path.c_str());
}

TEST(Ptxas, StackFramesAndSpillsAreSeen) {
  const Assembled read = ReadReport(
      "ptxas info    : Function properties for f\n"
      "    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 31 registers, used 0 barriers, 376 bytes cmem[0]\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  EXPECT_EQ(read.kernels, 2);
  EXPECT_EQ(read.with_stack_or_spills, 1);
  EXPECT_EQ(read.most_registers, 31);
}

}  // namespace
}  // namespace partita
