// The comparison of generated PTX with the CPU notices changed instructions.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/ptx_mutants.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "tests/kernels/emulated_launch.h"

namespace partita {
namespace {

using S = ScalarType;
using Registers = absl::Span<const Register>;

bool IsFull() { return std::getenv("PARTITA_FULL") != nullptr; }

SampleProgram Sample(std::string name, ElementwiseProgram program) {
  SampleProgram sample{.what = name, .program = std::move(program)};
  sample.program.name = std::move(name);
  sample.operands = SampleOperands(sample.program);
  return sample;
}

// Loops, rows, tails, halves, casts and a function.
std::vector<SampleProgram> MutatedSamples() {
  std::vector<SampleProgram> samples;
  samples.push_back(Sample(
      "line", ProgramOf({1031}, {{S::kF32, {1}}, {S::kF32, {1}}},
                        [](Registers x) -> std::vector<Register> {
                          return {(x[0] - x[1]) / (x[1] + 0.5), x[0] < x[1]};
                        })));
  samples.push_back(Sample(
      "rows",
      ProgramOf({30, 7, 12}, {{S::kF32, {84, 12, 1}}, {S::kF32, {1, 30, 0}}},
                [](Registers x) -> std::vector<Register> {
                  return {Fma(x[0], x[1], x[0])};
                })));
  samples.push_back(Sample(
      "halves", ProgramOf({1031}, {{S::kBF16, {1}}, {S::kF16, {1}}},
                          [](Registers x) -> std::vector<Register> {
                            const Register sum = Upcast(x[0]) + Upcast(x[1]);
                            return {Narrow(S::kBF16, RoundTo(S::kBF16, sum)),
                                    Narrow(S::kF16, sum)};
                          })));
  samples.push_back(Sample(
      "casts", ProgramOf({1031}, {{S::kF32, {1}}, {S::kI64, {1}}},
                         [](Registers x) -> std::vector<Register> {
                           return {Cast(x[0], S::kI32), Cast(x[0], S::kI64),
                                   Cast(x[1], S::kF32),
                                   Select(Cast(x[1], S::kBool), -x[1], x[1])};
                         })));
  samples.push_back(
      Sample("tanh", ProgramOf({1031}, {{S::kF32, {1}}},
                               [](Registers x) -> std::vector<Register> {
                                 return {Tanh(x[0])};
                               })));
  return samples;
}

// A row for a warp, for a part of it, and for a block.
std::vector<RowSample> MutatedRows() {
  std::vector<RowSample> samples;
  const auto add = [&](std::string name, RowProgram program) {
    program.name = name;
    samples.push_back(MakeRowSample(std::move(name), std::move(program)));
  };
  RowProgram norm = DenseRows(9, 300, S::kF32, {S::kF32, S::kF32});
  BuildLayerNorm(/*epsilon=*/1e-5, /*has_fma=*/true, norm);
  add("norm", norm);
  RowProgram sum = DenseRows(11, 77, S::kI64);
  BuildReduction(RowReduction::kSum, /*has_fma=*/true, sum);
  add("sum", sum);
  RowProgram mean = DenseRows(3, 1028, S::kBF16);
  BuildReduction(RowReduction::kMean, /*has_fma=*/true, mean);
  add("mean", mean);
  return samples;
}

// Aligned, with each address and with all addresses aligned to elements only.
std::vector<EmulatedLaunch> Alignments(size_t parameters) {
  std::vector<EmulatedLaunch> launches(1);
  for (size_t i = 0; i < parameters; ++i) {
    launches.emplace_back().shifts.assign(parameters, 0);
    launches.back().shifts[i] = 1;
  }
  launches.emplace_back().shifts.assign(parameters, 1);
  return launches;
}

// Many times what a right kernel takes.
void LimitInstructions(std::vector<EmulatedLaunch>& launches) {
  for (EmulatedLaunch& launch : launches) {
    launch.options.most_instructions = 5'000'000;
  }
}

std::vector<EmulatedLaunch> Launches(const ElementwiseProgram& program) {
  std::vector<EmulatedLaunch> launches =
      Alignments(program.operands.size() + program.results.size());
  // Threads that go round, and more threads than elements.
  launches.push_back(launches[0]);
  launches.back().launch = GpuLaunch{2, 17};
  launches.push_back(launches[launches.size() - 2]);
  launches.back().launch = GpuLaunch{12, 256};
  LimitInstructions(launches);
  return launches;
}

std::vector<EmulatedLaunch> Launches(const RowProgram& program) {
  std::vector<EmulatedLaunch> launches =
      Alignments(program.operands.size() + ResultTypes(program).size());
  // Blocks that go round, in another order of threads, and too many blocks.
  const unsigned threads = RowShapeOf(program).block_threads();
  for (unsigned blocks : {1u, 11u}) {
    launches.emplace_back().launch = GpuLaunch{blocks, threads};
    launches.back().options.seed = 1 + blocks;
  }
  LimitInstructions(launches);
  return launches;
}

template <typename Sample>
bool IsNoticed(const std::string& text, const Sample& sample,
               const std::vector<std::vector<std::byte>>& expected) {
  const auto module = ptx::ParseModule(text, "mutant");
  if (!module.ok()) return true;
  for (const EmulatedLaunch& launch : Launches(sample.program)) {
    const auto results = LaunchEmulated(*module, sample, launch);
    if (!results.ok() || !CheckResults(sample, expected, *results).ok()) {
      return true;
    }
  }
  return false;
}

// Expects that `percent` of the mutants are noticed.
template <typename Sample>
void ExpectNoticed(const std::vector<Sample>& samples, int percent) {
  int tried = 0;
  int noticed = 0;
  std::string survivors;
  for (const Sample& sample : samples) {
    const auto text = BuildPtx({sample.program}, "sm_80");
    ASSERT_TRUE(text.ok()) << text.status();
    const auto expected = InterpretedResults(sample);
    ASSERT_FALSE(IsNoticed(*text, sample, expected)) << sample.what;
    const std::vector<PtxMutant> mutants = MutantsOf(*text);
    ASSERT_GT(mutants.size(), 50u) << sample.what;
    const size_t step = IsFull() ? 1 : 5;
    for (size_t i = 0; i < mutants.size(); i += step) {
      ++tried;
      if (IsNoticed(mutants[i].text, sample, expected)) {
        ++noticed;
      } else {
        survivors += sample.what + ", " + mutants[i].what + "\n";
      }
    }
  }
  std::printf("%d of %d mutants noticed; not these:\n%s", noticed, tried,
              survivors.c_str());
  EXPECT_GE(noticed * 100, tried * percent) << survivors;
}

// Those that are not noticed compute the same: bounds that no value reaches,
// the payload of a NaN, a test of alignment that makes all accesses single
// ones.
TEST(PtxMutants, AChangedInstructionIsNoticed) {
  ExpectNoticed(MutatedSamples(), /*percent=*/94);
}

// Barriers and shuffles among them.
TEST(PtxMutants, AChangedInstructionOfRowsIsNoticed) {
  ExpectNoticed(MutatedRows(), /*percent=*/90);
}

TEST(PtxMutants, EachKindOfChangeIsMade) {
  const std::vector<PtxMutant> mutants = MutantsOf(
      "\tsub.s32 \t%r1, %r2, 3;\n\t@%p1 bra \t$L;\n$L:\n"
      "\tld.global.v2.u64 \t{%rd1, %rd2}, [%rd3];\n\tret;\n");
  std::vector<std::string> what;
  for (const PtxMutant& mutant : mutants) what.push_back(mutant.what);
  EXPECT_EQ(what,
            (std::vector<std::string>{
                "line 1: `sub.s32 \t%r1, %r2, 3;` -> ``",
                "line 1: `sub.s32 \t%r1, %r2, 3;` -> `add.s32\t%r1, %r2, 3;`",
                "line 1: `sub.s32 \t%r1, %r2, 3;` -> `sub.s32\t%r1, 3, %r2;`",
                "line 1: `sub.s32 \t%r1, %r2, 3;` -> `sub.s32\t%r1, %r2, 4;`",
                "line 2: `@%p1 bra \t$L;` -> ``",
                "line 2: `@%p1 bra \t$L;` -> `@!%p1 bra\t$L;`",
                "line 4: `ld.global.v2.u64 \t{%rd1, %rd2}, [%rd3];` -> ``",
                "line 4: `ld.global.v2.u64 \t{%rd1, %rd2}, [%rd3];` -> "
                "`ld.global.v2.u64\t{%rd2, %rd1}, [%rd3];`"}));
}

}  // namespace
}  // namespace partita
