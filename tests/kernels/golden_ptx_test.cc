// The PTX of four small kernels, whole: what changes in it shows in a diff.
// With --update the files on the command line are rewritten.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/sample_programs.h"
#include "kernels/codegen_loader/testing/sample_rows.h"

namespace partita {
namespace {

using S = ScalarType;
using Registers = absl::Span<const Register>;

ElementwiseProgram Named(const char* name, ElementwiseProgram program) {
  program.name = name;
  return program;
}

// A block for each row: shuffles, shared memory and barriers.
RowProgram RowMean() {
  RowProgram program = DenseRows(5, 1024, S::kF32);
  BuildReduction(RowReduction::kMean, /*has_fma=*/true, program);
  program.name = "row_mean";
  return program;
}

std::string NameOf(const AnyProgram& program) {
  return std::visit([](const auto& one) { return one.name; }, program);
}

std::vector<AnyProgram> Programs() {
  return {
      // A group of four, and a tail.
      Named("scaled_sum", ProgramOf({1003}, {{S::kF32, {1}}, {S::kF32, {1}}},
                                    [](Registers x) -> std::vector<Register> {
                                      return {x[0] * x[1] + x[0]};
                                    })),
      // Groups of eight 16-bit floats beside a row.
      Named("row_sum",
            ProgramOf({3, 64}, {{S::kBF16, {64, 1}}, {S::kBF16, {0, 1}}},
                      [](Registers x) -> std::vector<Register> {
                        return {Narrow(
                            S::kBF16,
                            RoundTo(S::kBF16, Upcast(x[0]) + Upcast(x[1])))};
                      })),
      // Single elements, since lines are odd; a bool and a cast.
      Named("column_sign",
            ProgramOf({5, 7}, {{S::kF64, {7, 1}}, {S::kF64, {1, 0}}},
                      [](Registers x) -> std::vector<Register> {
                        return {x[0] < x[1], Cast(x[0], S::kI32)};
                      })),
      RowMean(),
  };
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string>& Paths() {
  static auto& paths = *new std::vector<std::string>;
  return paths;
}

std::string PathOf(const std::string& name) {
  for (const std::string& path : Paths()) {
    if (absl::EndsWith(path, absl::StrCat("/", name, ".ptx"))) return path;
  }
  return absl::StrCat("tests/kernels/golden/", name, ".ptx");
}

TEST(GoldenPtx, IsWhatTheEmitterWrites) {
  for (const AnyProgram& program : Programs()) {
    const auto text = BuildPtx({program}, "sm_80");
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(ReadFile(PathOf(NameOf(program))), *text)
        << "bazel run --config=opt //tests/kernels:golden_ptx_test -- --update";
  }
  EXPECT_EQ(Paths().size(), Programs().size());
}

int Update() {
  // `bazel run` starts in another folder; this is the source folder.
  const char* folder = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  for (const AnyProgram& program : Programs()) {
    const auto text = BuildPtx({program}, "sm_80");
    const std::string path =
        absl::StrCat(folder == nullptr ? "." : folder, "/tests/kernels/golden/",
                     NameOf(program), ".ptx");
    std::ofstream out(path, std::ios::binary);
    if (text.ok()) out << *text;
    out.close();
    if (text.ok() && out) continue;
    std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--update") return partita::Update();
    partita::Paths().push_back(argv[i]);
  }
  return RUN_ALL_TESTS();
}
