// Lists of lengths, types and ops.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/testing/sample_rows.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/codegen/row_builder.h"
#include "kernels/codegen_loader/testing/any_sample.h"
#include "kernels/codegen_loader/testing/sample_programs.h"

namespace partita {
namespace {

using S = ScalarType;
using Registers = std::vector<Register>;

constexpr bool kHasFma = true;  // GPUs compute what processors with fma do
constexpr double kEpsilon = 1e-5;

const char* NameOf(S type) {
  constexpr const char* kNames[] = {"f32", "f64",  "i32",  "i64",
                                    "u64", "bool", "bf16", "f16"};
  return kNames[static_cast<int>(type)];
}

std::string Shown(const char* op, S type, int64_t rows, int64_t length) {
  return absl::StrCat(op, " of ", NameOf(type), ", ", rows, " rows of ",
                      length);
}

struct NamedReduction {
  const char* name;
  RowReduction reduction;
};
constexpr NamedReduction kReductions[] = {
    {"sum", RowReduction::kSum},   {"product", RowReduction::kProduct},
    {"max", RowReduction::kMax},   {"min", RowReduction::kMin},
    {"mean", RowReduction::kMean},
};

RowSample Reduced(const NamedReduction& reduction, S type, int64_t rows,
                  int64_t length) {
  RowProgram program = DenseRows(rows, length, type);
  BuildReduction(reduction.reduction, kHasFma, program);
  return MakeRowSample(Shown(reduction.name, type, rows, length),
                       std::move(program));
}

bool IsInteger(S type) { return type == S::kI32 || type == S::kI64; }

Registers FirstOperand(const RowReader& row) { return {row.Operand(0)}; }

// Sum and sum of squares over images, for each channel; images of `pixels`.
RowProgram ChannelMoments(int64_t images, int64_t channels, int64_t pixels) {
  RowProgram program{.rows = {channels},
                     .columns = {images, pixels},
                     .operands = {{S::kF32, {pixels, channels * pixels, 1}}}};
  AddPhase(
      {Combiner::kSum, Combiner::kSum},
      [](const RowReader& row) -> Registers {
        return {row.Operand(0), row.Operand(0) * row.Operand(0)};
      },
      nullptr, kHasFma, program);
  program.row_results = {0, 1};
  return program;
}

// Over the rows of a matrix, for each of its columns.
RowProgram ColumnMaximum(S type, int64_t rows, int64_t columns) {
  RowProgram program{
      .rows = {columns}, .columns = {rows}, .operands = {{type, {1, columns}}}};
  BuildReduction(RowReduction::kMax, kHasFma, program);
  return program;
}

// As attention has it: scores times a scale, -inf where a mask is false.
RowProgram MaskedSoftmax(int64_t heads, int64_t queries, int64_t keys) {
  RowProgram program{.rows = {heads, queries},
                     .columns = {keys},
                     .operands = {{S::kF32, {queries * keys, keys, 1}},
                                  {S::kBool, {0, keys, 1}},
                                  {S::kF32, {1, 0, 0}}}};
  const auto score = [](const RowReader& row) {
    const Register scaled = row.Operand(0) * row.Operand(2);
    const double none = -std::numeric_limits<double>::infinity();
    return Select(Cast(row.Operand(1), S::kBool), scaled, row.F32(none));
  };
  AddPhase(
      {Combiner::kMax},
      [&](const RowReader& row) -> Registers { return {score(row)}; }, nullptr,
      kHasFma, program);
  AddPhase(
      {Combiner::kSum},
      [&](const RowReader& row) -> Registers {
        return {Exp(score(row) - row.Scalar(0))};
      },
      nullptr, kHasFma, program);
  SetElements(
      [&](const RowReader& row) -> Registers {
        return {Exp(score(row) - row.Scalar(0)) / row.Scalar(1)};
      },
      kHasFma, program);
  program.row_results = {0, 1};
  return program;
}

// Two reductions in one phase; results of three types, and scalars of rows.
RowProgram Normalised(int64_t rows, int64_t length) {
  RowProgram program{
      .rows = {rows},
      .columns = {length},
      .operands = {
          {S::kBF16, {length, 1}}, {S::kF32, {0, 1}}, {S::kF64, {1, 0}}}};
  AddPhase(
      {Combiner::kMax, Combiner::kMin},
      [](const RowReader& row) -> Registers {
        const Register sum = row.Operand(0) + row.Operand(1);
        return {sum, sum};
      },
      [](const RowReader& row) -> Registers {
        return {row.Scalar(0) - row.Scalar(1), Cast(row.Operand(2), S::kF32)};
      },
      kHasFma, program);
  SetElements(
      [](const RowReader& row) -> Registers {
        const Register sum = row.Operand(0) + row.Operand(1);
        const Register y = (sum - row.Scalar(1)) / row.Scalar(2);
        return {y, StoredAs(S::kBF16, y * row.Scalar(3)), y < 0.5};
      },
      kHasFma, program);
  program.row_results = {2, 0};
  return program;
}

// Column loops with an operand that changes with the outer one only.
RowProgram GroupScaled(int64_t rows, int64_t channels, int64_t pixels) {
  RowProgram program{.rows = {rows},
                     .columns = {channels, pixels},
                     .operands = {{S::kF32, {channels * pixels, pixels, 1}},
                                  {S::kF32, {0, 1, 0}}}};
  AddPhase({Combiner::kSum}, FirstOperand, nullptr, kHasFma, program);
  SetElements(
      [](const RowReader& row) -> Registers {
        return {(row.Operand(0) - row.Scalar(0)) * row.Operand(1)};
      },
      kHasFma, program);
  return program;
}

// Column loops of 1 to `most` elements together.
std::vector<int64_t> DrawnColumns(int64_t most, std::mt19937_64& random) {
  const auto draw = [&](int64_t limit) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  // Many lengths are short, and many are multiples of a vector.
  const int64_t length = draw(random() % 2 == 0 ? most : most / 20);
  const int64_t inner = random() % 2 == 0 ? length : (length + 15) / 16 * 16;
  if (random() % 3 != 0) return {inner};
  const int64_t outer = draw(6);
  return {outer, (inner + outer - 1) / outer};
}

// Dense, in an order of loops that is drawn, or 0 for some loops.
std::vector<int64_t> DrawnStrides(const std::vector<int64_t>& loops,
                                  std::mt19937_64& random) {
  std::vector<size_t> order(loops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random() % 4 == 0) std::shuffle(order.begin(), order.end(), random);
  std::vector<int64_t> strides(loops.size());
  int64_t stride = 1;
  for (size_t at = order.size(); at-- > 0;) {
    if (random() % 5 == 0) continue;
    strides[order[at]] = stride;
    stride *= loops[order[at]];
  }
  return strides;
}

// Any operand as f32.
Register AsF32(const RowReader& row, int operand) {
  return Cast(row.Operand(operand), S::kF32);
}

RowProgram DrawnProgram(std::mt19937_64& random) {
  constexpr S kTypes[] = {S::kF32,  S::kF32, S::kBF16, S::kF16,
                          S::kBool, S::kI32, S::kF64};
  constexpr Combiner kCombiners[] = {Combiner::kSum, Combiner::kMax,
                                     Combiner::kMin, Combiner::kProduct};
  RowProgram program{.rows = {1 + static_cast<int64_t>(random() % 9)},
                     .columns = DrawnColumns(/*most=*/1500, random)};
  if (random() % 3 == 0) {
    program.rows.push_back(1 + static_cast<int64_t>(random() % 4));
  }
  std::vector<int64_t> loops = program.rows;
  loops.insert(loops.end(), program.columns.begin(), program.columns.end());
  const int operands = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < operands; ++i) {
    program.operands.push_back(
        {kTypes[random() % std::size(kTypes)], DrawnStrides(loops, random)});
  }
  const auto draw = [&] { return static_cast<int>(random() % operands); };
  int scalars = 0;
  for (uint64_t phase = 0; phase <= random() % 3; ++phase) {
    const int a = draw();
    const int b = draw();
    std::vector<Combiner> combiners = {kCombiners[random() % 4]};
    if (random() % 3 == 0) combiners.push_back(kCombiners[random() % 4]);
    AddPhase(
        combiners,
        [&](const RowReader& row) -> Registers {
          Register value = AsF32(row, a) * 0.25 + AsF32(row, b);
          if (scalars > 0) value = value - row.Scalar(scalars - 1);
          return Registers(combiners.size(), value);
        },
        [&](const RowReader& row) -> Registers {
          return {row.Scalar(scalars) * 0.125};
        },
        kHasFma, program);
    scalars += static_cast<int>(combiners.size()) + 1;
  }
  if (random() % 4 != 0) {
    const int a = draw();
    const S type = random() % 2 == 0 ? S::kF32 : S::kBF16;
    SetElements(
        [&](const RowReader& row) -> Registers {
          const Register y = AsF32(row, a) * row.Scalar(scalars - 1);
          return {StoredAs(type, y), y < 0.0};
        },
        kHasFma, program);
  }
  if (random() % 3 == 0 || program.elements.results.empty()) {
    program.row_results = {scalars - 1, 0};
  }
  return program;
}

}  // namespace

RowSample MakeRowSample(std::string what, RowProgram program) {
  RowSample sample{.what = std::move(what), .program = std::move(program)};
  for (const ProgramSignature::Buffer& operand :
       SignatureOf(sample.program).operands) {
    sample.operands.push_back(OrdinaryElements(
        operand.type, sample.operands.size() + operand.elements,
        operand.elements));
  }
  return sample;
}

RowProgram DenseRows(int64_t rows, int64_t length, ScalarType x,
                     std::vector<ScalarType> shared) {
  RowProgram program{
      .rows = {rows}, .columns = {length}, .operands = {{x, {length, 1}}}};
  for (S type : shared) program.operands.push_back({type, {0, 1}});
  return program;
}

std::vector<RowSample> SamplesOfReductions() {
  std::vector<RowSample> samples;
  for (S type : {S::kF32, S::kF64, S::kI32, S::kI64, S::kBF16, S::kF16}) {
    for (const NamedReduction& reduction : kReductions) {
      if (IsInteger(type) && reduction.reduction == RowReduction::kMean) {
        continue;
      }
      for (int64_t length : {5, 64, 300, 1024}) {
        samples.push_back(Reduced(reduction, type, /*rows=*/5, length));
      }
    }
  }
  for (int64_t length : {1,   2,   3,   4,   7,    8,    12,   16,   31,
                         32,  33,  100, 127, 128,  129,  255,  256,  511,
                         512, 513, 768, 999, 1000, 1031, 2048, 2052, 3000}) {
    for (S type : {S::kF32, S::kBF16}) {
      samples.push_back(Reduced(kReductions[0], type, /*rows=*/3, length));
    }
  }
  // Each thread of a block of the most threads has several accumulators.
  samples.push_back(Reduced(kReductions[0], S::kF32, /*rows=*/2, 16384));
  samples.push_back(Reduced(kReductions[0], S::kI64, /*rows=*/2, 5001));
  samples.push_back(Reduced(kReductions[2], S::kF64, /*rows=*/2, 4096));
  samples.push_back(Reduced(kReductions[0], S::kF32, /*rows=*/0, 64));
  samples.push_back(Reduced(kReductions[0], S::kF32, /*rows=*/300, 3));
  return samples;
}

std::vector<RowSample> SamplesOfRowOps() {
  std::vector<RowSample> samples;
  const auto add = [&](const char* op, RowProgram program, int64_t length) {
    const S type = program.operands[0].type;
    samples.push_back(
        MakeRowSample(Shown(op, type, program.rows[0], length), program));
  };
  for (S type : {S::kF32, S::kBF16, S::kF16}) {
    for (int64_t length : {1, 3, 16, 33, 128, 200, 1000, 1024, 2052}) {
      RowProgram softmax = DenseRows(5, length, type);
      BuildSoftmax(kHasFma, softmax);
      add("softmax", softmax, length);
      RowProgram log_softmax = DenseRows(2, length, type);
      BuildLogSoftmax(kHasFma, log_softmax);
      add("log_softmax", log_softmax, length);
      RowProgram layer_norm = DenseRows(3, length, type, {type, type});
      BuildLayerNorm(kEpsilon, kHasFma, layer_norm);
      add("layer_norm", layer_norm, length);
      RowProgram rms_norm = DenseRows(3, length, type, {S::kF32});
      BuildRmsNorm(kEpsilon, kHasFma, rms_norm);
      add("rms_norm", rms_norm, length);
    }
  }
  RowProgram wide = DenseRows(2, 300, S::kF64, {S::kF64});
  BuildLayerNorm(kEpsilon, kHasFma, wide);
  add("layer_norm", wide, 300);
  return samples;
}

std::vector<RowSample> SamplesOfRowStrides() {
  std::vector<RowSample> samples;
  const auto add = [&](const char* what, RowProgram program) {
    samples.push_back(MakeRowSample(what, std::move(program)));
  };
  for (int64_t pixels : {1, 14, 16, 49, 256}) {
    add("moments of channels", ChannelMoments(3, 5, pixels));
    add("groups with scales", GroupScaled(3, 6, pixels));
  }
  add("maximum of columns", ColumnMaximum(S::kF32, 40, 33));
  add("maximum of columns", ColumnMaximum(S::kBF16, 300, 16));
  for (int64_t keys : {5, 64, 77, 512, 2048}) {
    add("a masked softmax", MaskedSoftmax(2, 3, keys));
    add("rows between 0 and 1", Normalised(3, keys));
  }
  return samples;
}

std::vector<RowSample> SamplesOfDrawnRows(int count) {
  std::vector<RowSample> samples;
  std::mt19937_64 random(23);
  for (int i = 0; i < count; ++i) {
    samples.push_back(
        MakeRowSample(absl::StrCat("drawn rows ", i), DrawnProgram(random)));
  }
  return samples;
}

std::vector<RowSample> SampleRows() {
  std::vector<RowSample> all;
  for (std::vector<RowSample>& samples : std::vector<std::vector<RowSample>>{
           SamplesOfReductions(), SamplesOfRowOps(), SamplesOfRowStrides(),
           SamplesOfDrawnRows(60)}) {
    for (RowSample& sample : samples) {
      sample.program.name = absl::StrFormat("rows_%03d", all.size());
      all.push_back(std::move(sample));
    }
  }
  return all;
}

std::vector<std::vector<std::byte>> InterpretedResults(
    const RowSample& sample) {
  return InterpretedResults(
      AnySample{sample.what, sample.program, sample.operands});
}

absl::Status CheckResults(const RowSample& sample,
                          const std::vector<std::vector<std::byte>>& expected,
                          const std::vector<std::vector<std::byte>>& found) {
  return CheckResults(SignatureOf(sample.program), sample.what, expected,
                      found);
}

}  // namespace partita
