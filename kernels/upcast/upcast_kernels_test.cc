// Compares upcast nodes, with oneDNN's kernels and our own, with eval.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/upcast/upcast_kernels.h"

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

const UpcastCatalog& Catalog() {
  static const auto& catalog = *new UpcastCatalog(
      {std::make_shared<OnednnCatalog>(), std::make_shared<CpuCatalog>()});
  return catalog;
}

const UpcastLibrary& Library() {
  static const auto& library =
      *new UpcastLibrary({new OnednnLibrary, new CpuLibrary});
  return library;
}

// Every choice computes the node in both formats, with one thread and with two.
void ExpectRight(const OpDef& op, const std::vector<Shape>& operands,
                 const Attributes& attributes = {}) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    std::vector<TensorType> types;
    for (const Shape& dims : operands) types.push_back({dtype, dims, {}});
    const OneNode one(op, types, attributes);
    ASSERT_FALSE(Catalog().Choices(one.node(), TestCpu(1)).empty())
        << one.node().ToString();
    const CheckReport report = CheckKernels(one.node(), Catalog(), Library());
    EXPECT_TRUE(report.status.ok()) << report.status;
    EXPECT_FALSE(report.kernels.empty());
  }
}

TEST(Upcast, Matmul) {
  ExpectRight(kMatmul, {{1, 1}, {1, 1}});
  ExpectRight(kMatmul, {{7, 33}, {33, 5}});
  ExpectRight(kMatmul, {{128, 64}, {64, 256}});
  ExpectRight(kMatmul, {{13, 7}, {37, 13}},
              {{"transpose_a", true}, {"transpose_b", true}});
  ExpectRight(kMatmul, {{4, 1, 7, 13}, {3, 13, 5}});
  ExpectRight(kMatmul, {{13}, {13}});
}

TEST(Upcast, ConvolutionsAndTheirGradients) {
  ExpectRight(kConv, {{2, 3, 9, 9}, {8, 3, 3, 3}});
  ExpectRight(kConv, {{2, 16, 12, 12}, {32, 16, 3, 3}},
              {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}});
  ExpectRight(kConvTranspose, {{2, 8, 7, 7}, {8, 3, 3, 3}});
  ExpectRight(kConvWeightGradient, {{3, 4, 9, 8}, {3, 6, 5, 8}},
              {{"kernel", Ints{3, 2}},
               {"strides", Ints{2, 1}},
               {"pads_before", Ints{1, 1}},
               {"pads_after", Ints{1, 0}}});
}

TEST(Upcast, KernelsOfOurOwnAndSeveralResults) {
  ExpectRight(kSoftmax, {{5, 33}}, {{"axis", -1}});
  ExpectRight(kReduceSum, {{5, 33, 4}}, {{"axes", Ints{1}}});
  ExpectRight(kLayerNorm, {{5, 33}, {33}, {33}});
  ExpectRight(kMaxPool, {{2, 16, 9, 9}}, {{"kernel", Ints{3, 3}}});
}

// Operands of other types do not change.
TEST(Upcast, OnlyHalvesAreConverted) {
  const OneNode one(kGatherGradient,
                    {{DType::kF16, {7, 5}, {}}, {DType::kI64, {7}, {}}},
                    {{"extent", 4}});
  const std::vector<int64_t> rows = {3, 0, 0, 2, 1, 3, 3};
  const HostTensor indices = HostTensor::Of<int64_t>({7}, rows);
  KernelCheckOptions options;
  options.operands = {nullptr, &indices};
  const CheckReport report =
      CheckKernels(one.node(), Catalog(), Library(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_FALSE(report.kernels.empty());
}

TEST(Upcast, Casts) {
  for (const DType half : {DType::kBF16, DType::kF16}) {
    for (const auto& [from, to] :
         {std::pair(half, DType::kF32), std::pair(DType::kF32, half)}) {
      const OneNode one(kCast, {{from, {3, 100, 201}, {}}}, {{"to", to}});
      const CheckReport report = CheckKernels(one.node(), Catalog(), Library());
      EXPECT_TRUE(report.status.ok()) << report.status;
      EXPECT_FALSE(report.kernels.empty());
    }
  }
}

// Only the result is rounded: sums are f32.
TEST(Upcast, SumsAreNotRoundedOnTheWay) {
  constexpr int64_t kTerms = 4096;
  const OneNode one(kMatmul, {{DType::kBF16, {1, kTerms}, {}},
                              {DType::kBF16, {kTerms, 1}, {}}});
  const DeviceTraits device = TestCpu(1);
  const KernelChoice choice = Catalog().Choices(one.node(), device).front();
  OneNode node = WithLayouts(one.node(), choice);
  const KernelBinding binding = {choice.kernel, choice.workspace};
  auto bound = Library().Bind({node.node(), &binding, &device});
  ASSERT_TRUE(bound.ok()) << bound.status();
  std::vector<BFloat16> ones(kTerms, BFloat16(1));
  BFloat16 sum;
  std::vector<char> workspace(choice.workspace + kWorkspaceAlignment);
  void* aligned = workspace.data();
  size_t room = workspace.size();
  std::align(kWorkspaceAlignment, choice.workspace, aligned, room);
  void* operands[] = {ones.data(), ones.data()};
  void* result = &sum;
  ASSERT_TRUE(bound->kernel
                  ->Launch({.operands = operands,
                            .results = {&result, 1},
                            .workspace = aligned})
                  .ok());
  EXPECT_EQ(double{sum}, kTerms);  // in bf16, 256 + 1 is 256
}

TEST(Upcast, OtherNodesAreNotOffered) {
  const TensorType bf16 = {DType::kBF16, {4, 4}, {}};
  const TensorType f16 = {DType::kF16, {4, 4}, {}};
  const TensorType f32 = {DType::kF32, {4, 4}, {}};
  const DeviceTraits device = TestCpu(1);
  EXPECT_TRUE(
      Catalog().Choices(OneNode(kMatmul, {f32, f32}).node(), device).empty());
  EXPECT_TRUE(
      Catalog().Choices(OneNode(kAdd, {bf16, bf16}).node(), device).empty());
  // Ops that only move elements need no f32.
  const OneNode moved(kTranspose, {f16}, {{"perm", Ints{1, 0}}});
  EXPECT_TRUE(Catalog().Choices(moved.node(), device).empty());
  DeviceTraits gpu = device;
  gpu.kind = DeviceKind::kCuda;
  EXPECT_TRUE(
      Catalog().Choices(OneNode(kMatmul, {f16, f16}).node(), gpu).empty());
  const OneNode sum(kAdd, {bf16, bf16});
  const KernelBinding binding = {"upcast.onednn.binary"};
  EXPECT_EQ(Library().Bind({sum.node(), &binding, &device}).status().code(),
            absl::StatusCode::kUnimplemented);
}

// An emulated GPU's kernel is requested by the library's name, in the plan's
// layouts.
TEST(Upcast, EmulatesAnotherDevicesProduct) {
  const TensorType f16 = {DType::kF16, {64, 64}, {}};
  const OneNode one(kMatmul, {f16, f16});
  const DeviceTraits device = TestCpu(2);
  const KernelBinding binding = {"upcast", 1 << 20};
  auto bound = Library().Bind(
      {one.node(), &binding, &device, nullptr, /*emulates=*/true});
  ASSERT_TRUE(bound.ok()) << bound.status();
  // By gemm or as a convolution, whichever is faster here.
  EXPECT_TRUE(bound->id == "upcast.onednn.matmul" ||
              bound->id == "upcast.onednn.matmul_by_conv")
      << bound->id;
  EXPECT_EQ(bound->arithmetic.rounded_to, DType::kF16);
}

}  // namespace
}  // namespace partita
