// Generated GPU kernels give the bits of the CPU's, in the interpreter of PTX.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/native_code/trusted_code.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/kernels/emulated_launch.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<AnyProgram> ProgramsOf(const std::vector<SampleProgram>& samples) {
  std::vector<AnyProgram> programs;
  for (const SampleProgram& sample : samples) {
    programs.push_back(sample.program);
  }
  return programs;
}

// All samples, compiled once a target.
struct Compiled {
  std::string text;
  ptx::Module module;
};

class GeneratedPtxTest : public testing::TestWithParam<const char*> {
 protected:
  static const std::vector<SampleProgram>& Samples() {
    static const auto& samples =
        *new std::vector<SampleProgram>(SamplePrograms());
    return samples;
  }
  // By sample.
  static const std::vector<std::vector<Bytes>>& Expected() {
    static const auto& expected = *new std::vector<std::vector<Bytes>>([] {
      std::vector<std::vector<Bytes>> all;
      for (const SampleProgram& sample : Samples()) {
        all.push_back(InterpretedResults(sample));
      }
      return all;
    }());
    return expected;
  }
  static Compiled Compile(const char* target) {
    Compiled compiled;
    const auto text = BuildPtx(ProgramsOf(Samples()), target);
    EXPECT_TRUE(text.ok()) << text.status();
    if (!text.ok()) return compiled;
    compiled.text = *text;
    auto module = ptx::ParseModule(*text, target);
    EXPECT_TRUE(module.ok()) << module.status();
    if (module.ok()) compiled.module = *std::move(module);
    return compiled;
  }
  const Compiled& Kernels() {
    static const Compiled& sm_80 = *new Compiled(Compile("sm_80"));
    static const Compiled& sm_90 = *new Compiled(Compile("sm_90"));
    return GetParam() == std::string("sm_80") ? sm_80 : sm_90;
  }
  // Every `step`th sample has the expected results.
  void ExpectEqualBits(const EmulatedLaunch& how, size_t step = 1) {
    for (size_t i = 0; i < Samples().size(); i += step) {
      const auto results = LaunchEmulated(Kernels().module, Samples()[i], how);
      ASSERT_TRUE(results.ok())
          << Samples()[i].what << ": " << results.status();
      const absl::Status status =
          CheckResults(Samples()[i], Expected()[i], *results);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, GeneratedPtxTest,
                         testing::Values("sm_80", "sm_90"),
                         [](const auto& info) { return info.param; });

TEST_P(GeneratedPtxTest, EveryProgramHasTheInterpretersBits) {
  EXPECT_GT(Samples().size(), 500u);
  ExpectEqualBits({});
}

TEST_P(GeneratedPtxTest, NaNsOfAnH100ChangeNoNumber) {
  EmulatedLaunch how;
  how.options.nan = ptx::NanRules::kH100;
  ExpectEqualBits(how);
}

// Then there are single elements only.
TEST_P(GeneratedPtxTest, AddressesMayBeAlignedToAnElementOnly) {
  EmulatedLaunch how;
  how.shifts.assign(64, 1);  // more than any program's operands and results
  ExpectEqualBits(how);
}

TEST_P(GeneratedPtxTest, AnyLaunchGivesTheSameBits) {
  for (const GpuLaunch launch :
       {GpuLaunch{1, 1}, GpuLaunch{3, 7}, GpuLaunch{70, 32}}) {
    EmulatedLaunch how;
    how.launch = launch;
    how.options.seed = launch.blocks;
    ExpectEqualBits(how, /*step=*/7);
  }
}

// Accumulations and activations are computed where their operand is.
TEST_P(GeneratedPtxTest, AResultMayBeStoredOverAnOperand) {
  int tried = 0;
  for (size_t i = 0; i < Samples().size(); ++i) {
    const SampleProgram& sample = Samples()[i];
    const ElementwiseProgram& program = sample.program;
    const bool fits = program.loops.size() == 1 && !program.operands.empty() &&
                      program.operands[0].strides[0] == 1 &&
                      program.operands[0].type ==
                          program.instructions[program.results[0]].type;
    if (!fits) continue;
    ++tried;
    EmulatedLaunch how;
    how.result_in_place = {0};
    how.options.seed = 3;
    const auto results = LaunchEmulated(Kernels().module, sample, how);
    ASSERT_TRUE(results.ok()) << results.status();
    const absl::Status status = CheckResults(sample, Expected()[i], *results);
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_GT(tried, 100);
}

// Nothing that a driver's compiler may round otherwise, no library, no stack.
TEST_P(GeneratedPtxTest, NoInstructionHasOpenBits) {
  for (const char* word :
       {".approx", ".ftz", ".sat", "call", ".local", "ld.global.nc", ".func",
        " add.f32", " mul.f32", "cvt.rn.bf16"}) {
    EXPECT_FALSE(absl::StrContains(Kernels().text, word)) << word;
  }
  EXPECT_TRUE(absl::StrContains(Kernels().text,
                                absl::StrCat(".target ", GetParam(), "\n")));
}

// The accesses of a kernel's text, as "ld.global.v4.f32", sorted.
std::vector<std::string> Accesses(const ptx::Module& module,
                                  const std::string& name) {
  std::vector<std::string> accesses;
  for (const ptx::Instruction& instruction : module.Find(name)->instructions) {
    if (instruction.form->action == ptx::Action::kLoad ||
        instruction.form->action == ptx::Action::kStore) {
      accesses.push_back(instruction.form->text);
    }
  }
  std::sort(accesses.begin(), accesses.end());
  return accesses;
}

TEST_P(GeneratedPtxTest, AccessesHaveSixteenBytes) {
  EXPECT_EQ(Accesses(Kernels().module, "bias_gelu_residual"),
            (std::vector<std::string>{"ld.global.f32", "ld.global.f32",
                                      "ld.global.f32", "ld.global.v4.f32",
                                      "ld.global.v4.f32", "ld.global.v4.f32",
                                      "st.global.f32", "st.global.v4.f32"}));
}

// Beyond 2^30 elements.
TEST(GeneratedPtx, LargeProgramsCountIn64Bits) {
  ElementwiseProgram large = BiasGeluResidual(1 << 21, 1001);
  large.name = "large";
  const auto text = BuildPtx({large}, "sm_90");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(absl::StrContains(*text, "mul.hi.u64"));
  const auto module = ptx::ParseModule(*text, "large");
  EXPECT_TRUE(module.ok()) << module.status();
}

// The program's interpreter is what GPUs are compared with: it gives what the
// CPU's generated code gives.
TEST(GeneratedPtx, TheInterpretersBitsAreTheCpus) {
  const std::string target = CodeTarget("avx2");
  if (!ProcessorRuns(target)) GTEST_SKIP() << "found no AVX2";
  const std::vector<SampleProgram> samples = SamplePrograms();
  const auto code = BuildSharedObject(ProgramsOf(samples), "avx2");
  ASSERT_TRUE(code.ok()) << code.status();
  const auto* bytes = reinterpret_cast<const std::byte*>(code->data());
  const absl::Status trusted = TrustCode(
      {.target = target, .bytes = Bytes(bytes, bytes + code->size())});
  ASSERT_TRUE(trusted.ok()) << trusted;
  for (const SampleProgram& sample : samples) {
    const ElementwiseEntry entry = FindEntry(target, sample.program.name);
    ASSERT_NE(entry, nullptr) << sample.program.name;
    const std::vector<Bytes> expected = InterpretedResults(sample);
    std::vector<Bytes> found = expected;
    std::vector<void*> operands, results;
    for (const Bytes& operand : sample.operands) {
      operands.push_back(const_cast<std::byte*>(operand.data()));
    }
    for (Bytes& result : found) {
      std::fill(result.begin(), result.end(), std::byte{0xa5});
      results.push_back(result.data());
    }
    entry(operands.data(), results.data(), 0, NumElements(sample.program));
    const absl::Status status = CheckResults(sample, expected, found);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(GeneratedPtx, AnUnknownTargetIsNamed) {
  const auto text = BuildPtx({BiasGeluResidual(2, 4)}, "sm_100");
  EXPECT_EQ(text.status().message(),
            "GPU code for fused kernels: bug: codegen cannot compile its "
            "program: found the target sm_100; expected sm_80 or sm_90");
}

}  // namespace
}  // namespace partita
