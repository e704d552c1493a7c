// Generated kernels over rows give the bits of their program's interpreter, on
// the CPU and in the interpreter of PTX.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen/row_builder.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_rows.h"
#include "kernels/native_code/trusted_code.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/kernels/emulated_launch.h"

namespace partita {
namespace {

using S = ScalarType;
using Bytes = std::vector<std::byte>;

std::vector<AnyProgram> ProgramsOf(const std::vector<RowSample>& samples) {
  std::vector<AnyProgram> programs;
  for (const RowSample& sample : samples) programs.push_back(sample.program);
  return programs;
}

// All samples, compiled once.
class GeneratedRowsTest : public testing::Test {
 protected:
  static const std::vector<RowSample>& Samples() {
    static const auto& samples = *new std::vector<RowSample>(SampleRows());
    return samples;
  }
  // By sample.
  static const std::vector<std::vector<Bytes>>& Expected() {
    static const auto& expected = *new std::vector<std::vector<Bytes>>([] {
      std::vector<std::vector<Bytes>> all;
      for (const RowSample& sample : Samples()) {
        all.push_back(InterpretedResults(sample));
      }
      return all;
    }());
    return expected;
  }
  static const std::string& Text() {
    static const auto& text = *new std::string([] {
      const auto built = BuildPtx(ProgramsOf(Samples()), "sm_80");
      EXPECT_TRUE(built.ok()) << built.status();
      return built.ok() ? *built : "";
    }());
    return text;
  }
  static const ptx::Module& Kernels() {
    static const auto& module = *new ptx::Module([] {
      auto parsed = ptx::ParseModule(Text(), "rows");
      EXPECT_TRUE(parsed.ok()) << parsed.status();
      return parsed.ok() ? *std::move(parsed) : ptx::Module();
    }());
    return module;
  }
  // Every `step`th sample has the expected results.
  static void ExpectEqualBits(const EmulatedLaunch& how, size_t step = 1) {
    for (size_t i = 0; i < Samples().size(); i += step) {
      const auto results = LaunchEmulated(Kernels(), Samples()[i], how);
      ASSERT_TRUE(results.ok())
          << Samples()[i].what << ": " << results.status();
      const absl::Status status =
          CheckResults(Samples()[i], Expected()[i], *results);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
};

TEST_F(GeneratedRowsTest, EveryProgramHasTheInterpretersBits) {
  EXPECT_GT(Samples().size(), 250u);
  ExpectEqualBits({});
}

// Then there are single elements only. Threads run in another order.
TEST_F(GeneratedRowsTest, AddressesMayBeAlignedToAnElementOnly) {
  EmulatedLaunch how;
  how.shifts.assign(64, 1);
  how.options.seed = 5;
  ExpectEqualBits(how, /*step=*/3);
}

// One block that goes round, and more blocks than rows.
TEST_F(GeneratedRowsTest, AnyNumberOfBlocksGivesTheSameBits) {
  for (size_t i = 0; i < Samples().size(); i += 5) {
    const RowSample& sample = Samples()[i];
    for (unsigned blocks : {1u, 2u, 11u}) {
      EmulatedLaunch how;
      how.launch = LaunchOf(sample.program, /*multiprocessors=*/1);
      how.launch->blocks = blocks;
      how.options.seed = blocks;
      const auto results = LaunchEmulated(Kernels(), sample, how);
      ASSERT_TRUE(results.ok()) << sample.what << ": " << results.status();
      const absl::Status status = CheckResults(sample, Expected()[i], *results);
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST_F(GeneratedRowsTest, AResultMayBeStoredOverAnOperand) {
  int tried = 0;
  for (size_t i = 0; i < Samples().size(); ++i) {
    const RowSample& sample = Samples()[i];
    const RowProgram& program = sample.program;
    if (program.elements.results.size() != 1 || program.rows.size() != 1 ||
        program.columns.size() != 1) {
      continue;
    }
    ++tried;
    EmulatedLaunch how;
    how.result_in_place = {0};
    how.options.seed = 3;
    const auto results = LaunchEmulated(Kernels(), sample, how);
    ASSERT_TRUE(results.ok()) << sample.what << ": " << results.status();
    const absl::Status status = CheckResults(sample, Expected()[i], *results);
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_GT(tried, 80);
}

TEST_F(GeneratedRowsTest, NoInstructionHasOpenBits) {
  for (const char* word :
       {".approx", ".ftz", ".sat", "call", ".local", "ld.global.nc", ".func",
        "\tatom.", "\tred.", " add.f32", " mul.f32", "cvt.rn.bf16"}) {
    EXPECT_FALSE(absl::StrContains(Text(), word)) << word;
  }
}

TEST_F(GeneratedRowsTest, TheInterpretersBitsAreTheCpus) {
  const std::string target = CodeTarget("avx2");
  if (!ProcessorRuns(target)) GTEST_SKIP() << "found no AVX2";
  const auto code = BuildSharedObject(ProgramsOf(Samples()), "avx2");
  ASSERT_TRUE(code.ok()) << code.status();
  const auto* bytes = reinterpret_cast<const std::byte*>(code->data());
  const absl::Status trusted = TrustCode(
      {.target = target, .bytes = Bytes(bytes, bytes + code->size())});
  ASSERT_TRUE(trusted.ok()) << trusted;
  for (size_t i = 0; i < Samples().size(); ++i) {
    const RowSample& sample = Samples()[i];
    const ElementwiseEntry entry = FindEntry(target, sample.program.name);
    ASSERT_NE(entry, nullptr) << sample.program.name;
    std::vector<Bytes> found = Expected()[i];
    std::vector<void*> operands, results;
    for (const Bytes& operand : sample.operands) {
      operands.push_back(const_cast<std::byte*>(operand.data()));
    }
    for (Bytes& result : found) {
      std::fill(result.begin(), result.end(), std::byte{0xa5});
      results.push_back(result.data());
    }
    // Rows may be dealt to several threads.
    const int64_t rows = NumRows(sample.program);
    entry(operands.data(), results.data(), 0, rows / 2);
    entry(operands.data(), results.data(), rows / 2, rows);
    const absl::Status status = CheckResults(sample, Expected()[i], found);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// The order of a reduction, spelled out.

TEST(RowOrder, AccumulatorsDependOnTheLength) {
  EXPECT_EQ(NumAccumulators(1), 1);
  EXPECT_EQ(NumAccumulators(3), 2);
  EXPECT_EQ(NumAccumulators(127), 64);
  EXPECT_EQ(NumAccumulators(511), 128);
  EXPECT_EQ(NumAccumulators(1000), 128);
  EXPECT_EQ(NumAccumulators(1024), 256);
  EXPECT_EQ(NumAccumulators(4096), 1024);
  EXPECT_EQ(NumAccumulators(1 << 20), 1024);
}

TEST(RowOrder, NeighboursAreJoinedAfterAccumulators) {
  // Six elements have four accumulators: 0 + 4, 1 + 5, 2, 3.
  RowProgram program = DenseRows(1, 6, S::kF32);
  BuildReduction(RowReduction::kSum, /*has_fma=*/true, program);
  const float x[] = {1, 1e8f, 3, -1e8f, 1e8f, 5};
  RowSample sample{.what = "six", .program = program, .operands = {{}}};
  sample.operands[0].resize(sizeof x);
  std::memcpy(sample.operands[0].data(), x, sizeof x);
  const std::vector<Bytes> results = InterpretedResults(sample);
  float sum = 0;
  std::memcpy(&sum, results[0].data(), sizeof sum);
  const float a0 = 0 + x[0] + x[4];
  const float a1 = 0 + x[1] + x[5];
  EXPECT_EQ(sum, (a0 + a1) + (0 + x[2] + (0 + x[3])));
}

float ReductionOf(RowReduction reduction, std::vector<float> x) {
  RowProgram program = DenseRows(1, static_cast<int64_t>(x.size()), S::kF32);
  BuildReduction(reduction, /*has_fma=*/true, program);
  RowSample sample{.what = "row", .program = program, .operands = {{}}};
  sample.operands[0].resize(x.size() * sizeof(float));
  std::memcpy(sample.operands[0].data(), x.data(), x.size() * sizeof(float));
  const std::vector<Bytes> results = InterpretedResults(sample);
  float value = 0;
  std::memcpy(&value, results[0].data(), sizeof value);
  return value;
}

TEST(RowOrder, ExtremesOfNaNAreNaN) {
  for (RowReduction reduction : {RowReduction::kMax, RowReduction::kMin}) {
    for (size_t at = 0; at < 5; ++at) {
      std::vector<float> x = {1, 2, -INFINITY, 3, INFINITY};
      x[at] = NAN;
      EXPECT_TRUE(std::isnan(ReductionOf(reduction, x))) << at;
    }
  }
  EXPECT_EQ(ReductionOf(RowReduction::kMax, {-INFINITY, -INFINITY}), -INFINITY);
  EXPECT_EQ(ReductionOf(RowReduction::kMin, {4, 3, 7}), 3);
  EXPECT_EQ(ReductionOf(RowReduction::kMean, {4, 3, 5}), 4);
  EXPECT_EQ(ReductionOf(RowReduction::kProduct, {4, 3, 5}), 60);
}

// What a kernel's text has of each kind.
struct Counts {
  int barriers = 0;
  int shuffles = 0;
  int wide_loads = 0;
};
Counts CountsOf(const RowProgram& program) {
  Counts counts;
  const auto text = BuildPtx({program}, "sm_90");
  EXPECT_TRUE(text.ok()) << text.status();
  const auto module = ptx::ParseModule(*text, "one");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return counts;
  for (const ptx::Instruction& i : module->kernels[0].instructions) {
    counts.barriers += i.form->action == ptx::Action::kBarrier;
    counts.shuffles += i.form->action == ptx::Action::kShuffle;
    counts.wide_loads +=
        i.form->action == ptx::Action::kLoad && i.form->vector == 4;
  }
  return counts;
}
RowProgram SumOf(S type, int64_t length) {
  RowProgram program = DenseRows(64, length, type);
  BuildReduction(RowReduction::kSum, /*has_fma=*/true, program);
  program.name = "sum";
  return program;
}

TEST(RowKernels, AWarpNeedsNoBarrier) {
  const Counts warp = CountsOf(SumOf(S::kF32, 512));
  EXPECT_EQ(warp.barriers, 0);
  EXPECT_GT(warp.shuffles, 0);
  const Counts block = CountsOf(SumOf(S::kF32, 4096));
  EXPECT_GT(block.barriers, 0);
  EXPECT_GT(block.shuffles, 0);
}

TEST(RowKernels, AccessesHaveSixteenBytesWhereLinesAllowIt) {
  EXPECT_EQ(CountsOf(SumOf(S::kF32, 512)).wide_loads, 1);
  EXPECT_EQ(CountsOf(SumOf(S::kBF16, 512)).wide_loads, 1);
  EXPECT_EQ(CountsOf(SumOf(S::kF32, 511)).wide_loads, 0);
}

}  // namespace
}  // namespace partita
