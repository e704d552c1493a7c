// What warps of generated GPU kernels move: neighbouring bytes, or there is a
// bound and a reason (docs/internals/gpu_kernels.md). Prints a table.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/any_sample.h"
#include "kernels/codegen_loader/testing/program_signature.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"
#include "testing/emulated_gpu/ptx/parser.h"
#include "testing/emulated_gpu/ptx/warp_traffic.h"
#include "tests/kernels/emulated_launch.h"
#include "tests/kernels/op_programs.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;
using Traffic = std::map<int, ptx::WarpTraffic>;  // by line of the text

ptx::Module KernelsOf(const std::vector<AnySample>& samples) {
  std::vector<AnyProgram> programs;
  for (const AnySample& sample : samples) programs.push_back(sample.program);
  const auto text = BuildPtx(programs, "sm_90");
  EXPECT_TRUE(text.ok()) << text.status();
  if (!text.ok()) return {};
  auto module = ptx::ParseModule(*text, "kernels");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : ptx::Module();
}

Traffic TrafficOf(const ptx::Module& module, const AnySample& sample,
                  EmulatedLaunch how = {}) {
  Traffic traffic;
  how.traffic = &traffic;
  const auto results = LaunchEmulated(module, sample, how);
  EXPECT_TRUE(results.ok()) << sample.what << ": " << results.status();
  return traffic;
}

// ---- Accesses of 16 bytes, in every kernel of the samples.

bool IsWholeSectors(int64_t elements, int64_t element_bytes) {
  return elements * element_bytes % int64_t{ptx::kSectorBytes} == 0;
}

int64_t NarrowestElement(const AnyProgram& program) {
  int64_t narrowest = 8;
  const ProgramSignature signature = SignatureOf(program);
  for (const auto* buffers : {&signature.operands, &signature.results}) {
    for (const ProgramSignature::Buffer& buffer : *buffers) {
      narrowest = std::min(narrowest, BytesOf(buffer.type));
    }
  }
  return narrowest;
}

int64_t WidestElement(const AnyProgram& program) {
  int64_t widest = 1;
  const ProgramSignature signature = SignatureOf(program);
  for (const auto* buffers : {&signature.operands, &signature.results}) {
    for (const ProgramSignature::Buffer& buffer : *buffers) {
      widest = std::max(widest, BytesOf(buffer.type));
    }
  }
  return widest;
}

// True if the 16-byte accesses of a warp are whole sectors. Others end within
// a sector where a line does; and rows of elements of 8 bytes are read in
// groups of 32 bytes, by two accesses that have half of each sector.
bool PromisesWholeSectors(const AnyProgram& program) {
  const int64_t narrowest = NarrowestElement(program);
  const auto has_whole_lines = [&](const IndexProgram& part) {
    return !part.loops.empty() && IsWholeSectors(part.loops.back(), narrowest);
  };
  return std::visit(
      [&](const auto& p) {
        using Program = std::decay_t<decltype(p)>;
        if constexpr (std::is_same_v<Program, ElementwiseProgram>) {
          return true;
        } else if constexpr (std::is_same_v<Program, RowProgram>) {
          return WidestElement(program) < 8 &&
                 IsWholeSectors(p.columns.back(), narrowest);
        } else if constexpr (std::is_same_v<Program, IndexProgram>) {
          return has_whole_lines(p);
        } else {
          return std::all_of(p.parts.begin(), p.parts.end(), has_whole_lines);
        }
      },
      program);
}

// How many instructions were held to it.
int ExpectWholeSectors(const std::vector<AnySample>& samples) {
  const ptx::Module kernels = KernelsOf(samples);
  int held = 0;
  for (const AnySample& sample : samples) {
    if (!PromisesWholeSectors(sample.program)) continue;
    for (const auto& [line, traffic] : TrafficOf(kernels, sample)) {
      if (traffic.access_bytes != 16) continue;
      ++held;
      EXPECT_EQ(traffic.sectors, traffic.fewest)
          << sample.what << ": sectors of line " << line << ", in "
          << traffic.accesses << " accesses of warps";
    }
  }
  return held;
}

TEST(Coalescing, ElementwiseKernelsMoveWholeSectors) {
  std::vector<AnySample> samples;
  for (SampleProgram& sample : SamplePrograms()) {
    samples.push_back({std::move(sample.what), std::move(sample.program),
                       std::move(sample.operands)});
  }
  EXPECT_GT(ExpectWholeSectors(samples), 2000);
}

TEST(Coalescing, KernelsOverRowsMoveWholeSectors) {
  std::vector<AnySample> samples;
  for (RowSample& sample : SampleRows()) {
    samples.push_back({std::move(sample.what), std::move(sample.program),
                       std::move(sample.operands)});
  }
  EXPECT_GT(ExpectWholeSectors(samples), 150);
}

TEST(Coalescing, KernelsOfAllOpsMoveWholeSectors) {
  std::vector<AnySample> samples;
  for (OpProgram& one : ProgramsOfSamples(/*special=*/false)) {
    samples.push_back(std::move(one.program));
  }
  for (OpProgram& one : ThinTiledPrograms()) {
    std::visit([](auto& p) { p.name = absl::StrCat("thin_", p.name); },
               one.program.program);
    samples.push_back(std::move(one.program));
  }
  EXPECT_GT(ExpectWholeSectors(samples), 300);
}

// ---- All accesses of some kernels, of sizes that are nobody's worst case.

// Sectors for each hundred that would do, over all reads, and all writes. What
// one read leaves of a sector, the next ones of its warp find in the L1 cache:
// the figures are accesses of that, and no more than those of memory.
struct Bound {
  uint64_t reads = 100;
  uint64_t writes = 100;
};
struct Kernel {
  const char* what;
  OpSample sample;
  Bound bound = {};
  const char* why = "";  // nothing is lost
};

SampleOperand F32(Shape dims) { return {DType::kF32, std::move(dims)}; }
SampleOperand BF16(Shape dims) { return {DType::kBF16, std::move(dims)}; }

std::vector<Kernel> Kernels() {
  const SampleOperand rows = {DType::kI64, {48}, 0, 63};
  const SampleOperand places = {DType::kI64, {64, 96}, 0, 63};
  const Attributes padded = {{"pads_before", Ints{1, 1}},
                             {"pads_after", Ints{1, 1}}};
  const Attributes of_rows = {{"axes", Ints{1}}};
  return {
      {"elementwise", {{F32({64, 96})}, {}, &kGelu}},
      {"elementwise, 16 bits", {{BF16({64, 96})}, {}, &kGelu}},
      {"elementwise, broadcast", {{F32({64, 96}), F32({96})}, {}, &kAdd}},
      {"softmax", {{F32({12, 512})}, {{"axis", -1}}, &kSoftmax}},
      {"sums of rows", {{F32({12, 512})}, of_rows, &kReduceSum}},
      {"sums of rows of odd length",
       {{F32({12, 511})}, of_rows, &kReduceSum},
       {.reads = 420},
       "a thread reads its four neighbours one by one"},
      {"sums of columns", {{F32({96, 64})}, {{"axes", Ints{0}}}, &kReduceSum}},
      {"matmul",
       {{F32({64, 48}), F32({48, 64})}, {}, &kMatmul},
       {.reads = 115},
       "a warp has two tiles: of the first operand, elements of two rows"},
      {"matmul, second operand transposed",
       {{F32({64, 48}), F32({64, 48})}, {{"transpose_b", true}}, &kMatmul},
       {.reads = 740},
       "each thread follows lines of its own"},
      {"convolution",
       {{F32({1, 4, 16, 32}), F32({8, 4, 3, 3})}, padded, &kConv},
       {.reads = 369},
       "a tap moves groups off their alignment: they are read one by one"},
      {"max pool",
       {{F32({2, 4, 16, 32})}, {{"kernel", Ints{2, 2}}}, &kMaxPool},
       {.reads = 130},
       "lines of 31 elements: a warp's reads begin within a sector"},
      {"transpose of lines",
       {{F32({64, 96})}, {{"perm", Ints{1, 0}}}, &kTranspose},
       {.reads = 400},
       "it stores whole sectors, so it reads two elements of each"},
      {"transpose that keeps lines",
       {{F32({16, 12, 32})}, {{"perm", Ints{1, 0, 2}}}, &kTranspose}},
      {"concatenation",
       {{F32({8, 12, 32}), F32({8, 4, 32})}, {{"axis", 1}}, &kConcat}},
      {"gather of lines", {{F32({64, 96}), rows}, {{"axis", 0}}, &kGather}},
      {"gather of elements",
       {{F32({64, 96}), places}, {{"axis", 0}}, &kGatherElements},
       {.reads = 330},
       "the indices say where; they themselves are whole sectors"},
  };
}

uint64_t Percent(uint64_t sectors, uint64_t fewest) {
  return fewest == 0 ? 100 : (100 * sectors + fewest - 1) / fewest;
}

Bound FoundIn(const Traffic& traffic) {
  uint64_t sectors[2] = {};
  uint64_t fewest[2] = {};
  for (const auto& [line, of_line] : traffic) {
    sectors[of_line.writes] += of_line.sectors;
    fewest[of_line.writes] += of_line.fewest;
  }
  return {Percent(sectors[0], fewest[0]), Percent(sectors[1], fewest[1])};
}

TEST(Coalescing, EachKindOfKernelIsWithinItsBound) {
  const std::vector<Kernel> kernels = Kernels();
  std::vector<OpSample> ops;
  for (const Kernel& kernel : kernels) ops.push_back(kernel.sample);
  std::vector<AnySample> samples;
  for (OpProgram& one : ProgramsOf(ops, /*special=*/false)) {
    samples.push_back(std::move(one.program));
  }
  ASSERT_EQ(samples.size(), kernels.size());
  const ptx::Module module = KernelsOf(samples);
  std::printf("| kernel | reads | writes | why |\n|---|---|---|---|\n");
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Bound& bound = kernels[i].bound;
    const Bound found = FoundIn(TrafficOf(module, samples[i]));
    std::printf("| %s | %d %% | %d %% | %s |\n", kernels[i].what,
                static_cast<int>(found.reads), static_cast<int>(found.writes),
                kernels[i].why);
    EXPECT_LE(found.reads, bound.reads) << samples[i].what;
    EXPECT_LE(found.writes, bound.writes) << samples[i].what;
    // A bound that is far off would hold nobody to anything.
    EXPECT_GE(found.reads + 10, bound.reads) << samples[i].what;
    EXPECT_GE(found.writes + 10, bound.writes) << samples[i].what;
  }
}

// The count notices it: single elements, which begin within a sector.
TEST(Coalescing, AccessesThatAreNotAlignedMoveMore) {
  const SampleOperand x = F32({64, 96});
  std::vector<AnySample> samples;
  for (OpProgram& one : ProgramsOf({{{x}, {}, &kGelu}}, /*special=*/false)) {
    samples.push_back(std::move(one.program));
  }
  ASSERT_EQ(samples.size(), 1u);
  EmulatedLaunch how;
  how.shifts = {1, 1};
  const Bound found = FoundIn(TrafficOf(KernelsOf(samples), samples[0], how));
  EXPECT_EQ(found.reads, 125u);
  EXPECT_EQ(found.writes, 125u);
}

}  // namespace
}  // namespace partita
