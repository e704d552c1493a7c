// The corpus for real GPUs has a kernel for every program.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/ptx_corpus/corpus.h"

#include "gtest/gtest.h"
#include "testing/emulated_gpu/ptx/parser.h"

namespace partita {
namespace {

TEST(PtxCorpus, EveryProgramHasAKernelInItsText) {
  const std::string folder = testing::TempDir() + "/ptx_corpus";
  const absl::Status written = WriteCorpus(folder);
  ASSERT_TRUE(written.ok()) << written;
  for (const char* target : kCorpusTargets) {
    const auto text = ReadCorpus(folder, target);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto module = ptx::ParseModule(*text, target);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(module->target, target);
    for (const SampleProgram& sample : SamplePrograms()) {
      EXPECT_NE(module->Find(sample.program.name), nullptr) << sample.what;
    }
    for (const RowSample& sample : SampleRows()) {
      EXPECT_NE(module->Find(sample.program.name), nullptr) << sample.what;
    }
    for (const ElementwiseProgram& program : MeasuredPrograms()) {
      EXPECT_NE(module->Find(program.name), nullptr) << program.name;
    }
    for (const RowProgram& program : MeasuredRows()) {
      EXPECT_NE(module->Find(program.name), nullptr) << program.name;
    }
  }
}

TEST(PtxCorpus, AMissingTextIsNamed) {
  EXPECT_EQ(ReadCorpus("/nowhere", "sm_80").status().message(),
            "found no text in /nowhere/sm_80.ptx; expected what ptx_corpus "
            "--write /nowhere writes");
}

}  // namespace
}  // namespace partita
