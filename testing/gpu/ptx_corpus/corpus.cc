// Texts in files.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/ptx_corpus/corpus.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/halves.h"
#include "kernels/codegen/row_ops.h"
#include "kernels/codegen_loader/codegen_loader.h"

namespace partita {
namespace {

using S = ScalarType;
using Registers = absl::Span<const Register>;

// A quarter of a GiB of f32: no cache holds it.
constexpr int64_t kRows = 16384;
constexpr int64_t kColumns = 4096;
constexpr int64_t kElements = kRows * kColumns;

ElementwiseProgram Named(const char* name, ElementwiseProgram program) {
  program.name = name;
  return program;
}

std::string PathOf(const std::string& folder, absl::string_view target) {
  return absl::StrCat(folder, "/", target, ".ptx");
}

}  // namespace

std::vector<ElementwiseProgram> MeasuredPrograms() {
  return {
      Named("measured_bias_gelu_residual_f32",
            BiasGeluResidual(kRows, kColumns)),
      Named("measured_sum_f32",
            ProgramOf({kElements}, {{S::kF32, {1}}, {S::kF32, {1}}},
                      [](Registers x) -> std::vector<Register> {
                        return {x[0] + x[1]};
                      })),
      Named("measured_sum_bf16",
            ProgramOf({kElements}, {{S::kBF16, {1}}, {S::kBF16, {1}}},
                      [](Registers x) -> std::vector<Register> {
                        return {Narrow(
                            S::kBF16,
                            RoundTo(S::kBF16, Upcast(x[0]) + Upcast(x[1])))};
                      })),
  };
}

std::vector<RowProgram> MeasuredRows() {
  constexpr double kEpsilon = 1e-5;
  constexpr bool kHasFma = true;
  std::vector<RowProgram> programs;
  const auto add = [&](const char* name, RowProgram program) {
    program.name = name;
    programs.push_back(std::move(program));
  };
  for (int64_t columns : {kColumns, int64_t{256}}) {
    const int64_t rows = kElements / columns;
    RowProgram sum = DenseRows(rows, columns, S::kF32);
    BuildReduction(RowReduction::kSum, kHasFma, sum);
    add(columns == kColumns ? "measured_row_sum_f32"
                            : "measured_short_row_sum_f32",
        sum);
    RowProgram softmax = DenseRows(rows, columns, S::kF32);
    BuildSoftmax(kHasFma, softmax);
    add(columns == kColumns ? "measured_softmax_f32"
                            : "measured_short_softmax_f32",
        softmax);
  }
  RowProgram norm = DenseRows(kRows, kColumns, S::kF32, {S::kF32, S::kF32});
  BuildLayerNorm(kEpsilon, kHasFma, norm);
  add("measured_layer_norm_f32", norm);
  RowProgram half = DenseRows(kRows, kColumns, S::kBF16, {S::kBF16, S::kBF16});
  BuildLayerNorm(kEpsilon, kHasFma, half);
  add("measured_layer_norm_bf16", half);
  return programs;
}

absl::StatusOr<std::string> CorpusPtx(absl::string_view target) {
  std::vector<AnyProgram> programs;
  for (ElementwiseProgram& program : MeasuredPrograms()) {
    programs.push_back(std::move(program));
  }
  for (RowProgram& program : MeasuredRows()) {
    programs.push_back(std::move(program));
  }
  for (SampleProgram& sample : SamplePrograms()) {
    programs.push_back(std::move(sample.program));
  }
  for (RowSample& sample : SampleRows()) {
    programs.push_back(std::move(sample.program));
  }
  return BuildPtx(programs, target);
}

absl::Status WriteCorpus(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (const char* target : kCorpusTargets) {
    PARTITA_ASSIGN_OR_RETURN(const std::string text, CorpusPtx(target));
    std::ofstream out(PathOf(folder, target), std::ios::binary);
    out << text;
    out.close();
    if (out) continue;
    return absl::UnavailableError(
        absl::StrCat(PathOf(folder, target),
                     ": cannot be written; expected a folder with "
                     "room"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadCorpus(const std::string& folder,
                                       absl::string_view target) {
  std::ifstream in(PathOf(folder, target), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!text.empty()) return text;
  return absl::NotFoundError(
      absl::StrCat("found no text in ", PathOf(folder, target),
                   "; expected what ptx_corpus --write ", folder, " writes"));
}

}  // namespace partita
