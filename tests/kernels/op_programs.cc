// Samples of ops, and of larger products.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/op_programs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "graph/graph.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/op_programs/read_any_program.h"

namespace partita {
namespace {

using Bytes = std::vector<std::byte>;

Bytes BytesOf(const HostTensor& tensor) {
  const absl::Span<const std::byte> bytes = tensor.byte_span();
  return Bytes(bytes.begin(), bytes.end());
}

// Every fifth element of a float operand is NaN, infinite, or denormal.
void Sprinkle(HostTensor& tensor) {
  if (!IsFloat(tensor.type().dtype)) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {std::nan(""), kInfinity, -kInfinity,
                            -0.0,         1e-40,     6e-8};
  for (int64_t i = 2; i < tensor.type().num_elements(); i += 5) {
    SetFromDouble(tensor, i, special[static_cast<size_t>(i / 5) % 6]);
  }
}

// The sample with f32 replaced by another dtype.
OpSample As(DType dtype, OpSample sample) {
  for (SampleOperand& operand : sample.operands) {
    if (operand.dtype == DType::kF32) operand.dtype = dtype;
  }
  return sample;
}

// Lines of whole groups, which are read and stored in accesses of 16 bytes.
std::vector<OpSample> WholeGroupSamples() {
  using Ints = std::vector<int64_t>;
  const SampleOperand indices = {DType::kI64, {3, 2}, -6, 5};
  const SampleOperand rows = {DType::kI32, {7}, 0, 3};
  const SampleOperand places = {DType::kI32, {2, 16}, 0, 3};
  const auto f32 = [](Shape dims) -> SampleOperand {
    return {DType::kF32, std::move(dims)};
  };
  return {
      {{f32({4, 8, 16})}, {{"perm", Ints{1, 0, 2}}}, &kTranspose},
      {{f32({4, 8, 16})}, {{"perm", Ints{0, 2, 1}}}, &kTranspose},
      {{f32({6, 7, 16})},
       {{"starts", Ints{1, 6, 0}},
        {"sizes", Ints{2, 4, 16}},
        {"steps", Ints{3, -2, 1}}},
       &kSlice},
      {{f32({4, 2, 16}), f32({4, 3, 16})}, {{"axis", 1}}, &kConcat},
      {{f32({4, 3, 16})},
       {{"before", Ints{0, 2, 0}}, {"after", Ints{0, 1, 0}}},
       &kPad},
      {{f32({4, 6, 16}), indices}, {{"axis", 1}}, &kGather},
      {{f32({4, 6, 16})}, {{"axis", 1}, {"sizes", Ints{3, 3}}}, &kSplit},
      {{f32({4, 1, 16})}, {{"shape", Ints{3, 4, 6, 16}}}, &kExpand},
      {{f32({3, 5, 16})}, {{"k", -2}}, &kTrilu},
      {{f32({2, 3, 9, 16})}, {{"kernel", Ints{3, 1}}}, &kMaxPool},
      {{f32({2, 4, 9, 16}), f32({8, 4, 3, 1})},
       {{"pads_before", Ints{1, 0}}},
       &kConv},
      {{f32({2, 16, 8}), f32({8, 16})}, {}, &kMatmul},
      {{f32({2, 4, 16}),
        f32({4}),
        f32({4}),
        f32({4}),
        {DType::kF32, {4}, 0.1, 2}},
       {},
       &kBatchNorm},
      {{f32({4, 16}), places, f32({2, 16})},
       {{"reduction", "add"}},
       &kScatterElements},
      {{f32({7, 16}), rows}, {{"extent", 4}}, &kGatherGradient},
      {{f32({3, 6, 16})}, {{"axis", 1}}, &kSoftmax},
      {{f32({3, 6, 16})}, {{"axis", 1}}, &kLogSoftmax},
      {{f32({4, 7, 16})}, {{"axis", 1}}, &kCumsum},
      {{f32({1, 2, 4, 16})}, {{"sizes", Ints{1, 2, 8, 16}}}, &kResize},
      {{f32({2, 4, 8, 4}), f32({2, 2, 8, 4}), f32({2, 2, 8, 8})},
       {{"scale", 0.5}, {"causal", true}},
       &kAttention},
  };
}

// Samples of all ops, also with other dtypes where they have f32 ones and
// accept these; each once.
std::vector<OpSample> AllSamples() {
  std::vector<OpSample> all;
  std::vector<OpSample> samples = OpSamples();
  for (OpSample& sample : WholeGroupSamples()) {
    samples.push_back(std::move(sample));
  }
  for (const OpSample& sample : samples) {
    all.push_back(sample);
    const bool has_f32 =
        std::any_of(sample.operands.begin(), sample.operands.end(),
                    [](const auto& o) { return o.dtype == DType::kF32; });
    if (!has_f32 || sample.op->traits.elementwise) continue;
    for (DType dtype : {DType::kF64, DType::kF16, DType::kBF16, DType::kI32,
                        DType::kI64, DType::kI8, DType::kU8, DType::kI16,
                        DType::kU16, DType::kU32, DType::kU64, DType::kBool}) {
      OpSample other = As(dtype, sample);
      LiteralPool pool;
      Graph graph("sample", &pool);
      if (AddSample(other, graph).ok()) all.push_back(std::move(other));
    }
  }
  return all;
}

OpSample Large(const OpDef& op, std::vector<Shape> dims,
               Attributes attributes = {}) {
  OpSample sample{.attributes = std::move(attributes), .op = &op};
  for (Shape& shape : dims) {
    sample.operands.push_back({DType::kF32, std::move(shape)});
  }
  return sample;
}

// Of sizes whose threads have tiles of several rows, or groups of 16.
std::vector<OpSample> TiledSamples() {
  const Attributes padded = {{"pads_before", std::vector<int64_t>{1, 1}},
                             {"pads_after", std::vector<int64_t>{1, 1}}};
  const Attributes rows = {{"axes", std::vector<int64_t>{1}}};
  return {
      Large(kMatmul, {{1024, 512}, {512, 1024}}),
      Large(kMatmul, {{4, 512, 64}, {4, 512, 64}}, {{"transpose_b", true}}),
      Large(kConv, {{8, 64, 56, 56}, {64, 64, 3, 3}, {64}}, padded),
      Large(kConvTranspose, {{8, 64, 56, 56}, {64, 64, 3, 3}}, padded),
      Large(kTranspose, {{512, 1024}}, {{"perm", std::vector<int64_t>{1, 0}}}),
      Large(kConcat, {{8, 64, 56, 56}, {8, 32, 56, 56}}, {{"axis", 1}}),
      Large(kMaxPool, {{8, 64, 56, 56}},
            {{"kernel", std::vector<int64_t>{2, 2}}}),
      As(DType::kI8, Large(kReduceMean, {{64, 4096}}, rows)),
      As(DType::kU8, Large(kReduceMax, {{64, 4096}}, rows))};
}

// Few steps, so that interpreters take no time.
std::vector<OpSample> ThinSamples() {
  return {As(DType::kBF16, Large(kMatmul, {{1024, 3}, {3, 512}})),
          Large(kConv, {{1, 3, 32, 256}, {64, 3, 1, 1}})};
}

}  // namespace

std::vector<OpProgram> ProgramsOf(const std::vector<OpSample>& samples,
                                  bool special) {
  std::vector<OpProgram> programs;
  for (const OpSample& sample : samples) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const auto node = AddSample(sample, graph);
    if (!node.ok()) continue;
    auto program = ReadAnyProgram(graph.view(*node), "sm_80");
    if (!program.ok()) continue;
    OpProgram one{.sample = sample};
    std::visit([&](auto& p) { p.name = absl::StrCat("op", programs.size()); },
               *program);
    one.program.what = ToString(sample);
    one.program.program = *std::move(program);
    uint32_t seed = 1;
    for (const SampleOperand& operand : sample.operands) {
      one.operands.push_back(RandomTensor(operand, ++seed));
      if (special) Sprinkle(one.operands.back());
      one.program.operands.push_back(BytesOf(one.operands.back()));
    }
    programs.push_back(std::move(one));
  }
  return programs;
}

std::vector<OpProgram> ProgramsOfSamples(bool special) {
  return ProgramsOf(AllSamples(), special);
}

std::vector<OpProgram> ThinTiledPrograms() {
  return ProgramsOf(ThinSamples(), /*special=*/true);
}

std::vector<AnyProgram> TiledPrograms() {
  std::vector<AnyProgram> programs;
  for (const OpSample& sample : TiledSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const auto node = AddSample(sample, graph);
    EXPECT_TRUE(node.ok()) << node.status();
    auto program = ReadAnyProgram(graph.view(*node), "sm_80");
    EXPECT_TRUE(program.ok()) << program.status();
    std::visit(
        [&](auto& p) { p.name = absl::StrCat("tiled", programs.size()); },
        *program);
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace partita
