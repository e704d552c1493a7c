// The toolkit's assembler takes generated PTX for each architecture, and needs
// neither stack nor spills.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/ptxas.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"

namespace partita {
namespace {

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

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
  for (const auto& [architecture, target] : kArchitectures) {
    const auto text = BuildPtx(programs, target);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto assembled = Assemble(ptxas, *text, architecture);
    ASSERT_TRUE(assembled.ok()) << assembled.status();
    const Assembled& read = *assembled;
    EXPECT_EQ(read.kernels.size(), programs.size()) << architecture;
    EXPECT_EQ(read.StackAndSpills(), "") << architecture;
    std::printf("%s: %zu kernels, at most %d registers\n", architecture,
                read.kernels.size(), read.most_registers());
  }
}

TEST(Ptxas, StackFramesAndSpillsAreSeen) {
  const Assembled read = ReadReport(
      "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
      "ptxas info    : Function properties for f\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 31 registers, used 0 barriers, 376 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'g' for 'sm_90'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers\n");
  EXPECT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.StackAndSpills(),
            "f: 12 bytes of spills, 16 bytes of stack, 31 registers\n");
  EXPECT_EQ(read.most_registers(), 40);
}

}  // namespace
}  // namespace partita
