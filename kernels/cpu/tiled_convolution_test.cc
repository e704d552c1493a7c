// Compares cpu.winograd_4x4 and its gradient by the weights with eval.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/kernel_check.h"
#include "kernels/vector/block_product.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// Relative to the largest result; docs/internals/numerics.md.
constexpr double kTolerance = 5e-5;

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

// Attributes of windows that begin and end this many positions outside.
Attributes Padded(const Ints& before, const Ints& after) {
  return {{"pads_before", before}, {"pads_after", after}};
}
Attributes PaddedKernel(const Ints& before, const Ints& after) {
  return {
      {"kernel", Ints{3, 3}}, {"pads_before", before}, {"pads_after", after}};
}

OneNode Conv(const Shape& x, int64_t outputs,
             const Attributes& attributes = Padded({1, 1}, {1, 1})) {
  return OneNode(kConv, {F32(x), F32({outputs, x[1], 3, 3})}, attributes);
}

void ExpectRight(const OneNode& one, const std::string& kernel) {
  SCOPED_TRACE(one.node().ToString());
  KernelCheckOptions options;
  options.threads = {1, 2, 3};
  options.tolerance = kTolerance;
  const CheckReport report =
      CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  ASSERT_FALSE(report.kernels.empty());
  EXPECT_TRUE(absl::StartsWith(report.kernels[0], kernel + " "))
      << report.kernels[0];
}

// A convolution of `x` to `outputs` channels, its transpose and its gradient by
// the weights.
void ExpectAllRight(const Shape& x, int64_t outputs, const Ints& before,
                    const Ints& after) {
  const Shape y = {x[0], outputs, x[2] + before[0] + after[0] - 2,
                   x[3] + before[1] + after[1] - 2};
  ExpectRight(Conv(x, outputs, Padded(before, after)), "cpu.winograd_4x4");
  ExpectRight(OneNode(kConvTranspose, {F32(y), F32({outputs, x[1], 3, 3})},
                      Padded(before, after)),
              "cpu.winograd_4x4");
  ExpectRight(OneNode(kConvWeightGradient, {F32(x), F32(y)},
                      PaddedKernel(before, after)),
              "cpu.winograd_4x4_weight_gradient");
}

void ExpectNone(const OneNode& one) {
  EXPECT_TRUE(CpuCatalog().Choices(one.node(), TestCpu(2)).empty())
      << one.node().ToString();
}

TEST(TiledConvolution, ImagesOfWholeTilesAndOfOthers) {
  ExpectAllRight({2, 32, 16, 8}, 64, {1, 1}, {1, 1});
  ExpectAllRight({3, 16, 14, 11}, 32, {1, 1}, {1, 1});
  ExpectAllRight({1, 16, 1, 1}, 16, {1, 1}, {1, 1});
  ExpectAllRight({2, 16, 2, 5}, 16, {1, 1}, {1, 1});
}

TEST(TiledConvolution, OtherPadding) {
  ExpectAllRight({2, 16, 9, 12}, 32, {0, 0}, {0, 0});
  ExpectAllRight({2, 16, 7, 6}, 16, {2, 2}, {2, 2});
  ExpectAllRight({1, 16, 7, 6}, 16, {0, 1}, {2, 0});
  ExpectAllRight({1, 16, 5, 5}, 16, {6, 0}, {0, 7});
}

// Chunks have 64 channels: fewer, more, and a rest.
TEST(TiledConvolution, ChannelsThatFillNoChunk) {
  ExpectAllRight({1, 48, 6, 6}, 80, {1, 1}, {1, 1});
  ExpectAllRight({1, 144, 4, 4}, 16, {1, 1}, {1, 1});
  ExpectAllRight({1, 16, 4, 4}, 176, {1, 1}, {1, 1});
}

// More tiles than are transformed at once, and a rest.
TEST(TiledConvolution, ManyTiles) {
  ExpectAllRight({5, 16, 25, 23}, 16, {1, 1}, {1, 1});
  ExpectAllRight({3, 80, 17, 33}, 32, {1, 1}, {1, 1});
}

TEST(TiledConvolution, Bias) {
  ExpectRight(
      OneNode(kConv, {F32({2, 16, 9, 9}), F32({80, 16, 3, 3}), F32({80})},
              Padded({1, 1}, {1, 1})),
      "cpu.winograd_4x4");
  ExpectRight(OneNode(kConvTranspose,
                      {F32({2, 32, 9, 9}), F32({32, 48, 3, 3}), F32({48})},
                      Padded({1, 1}, {1, 1})),
              "cpu.winograd_4x4");
}

// Positions that no window reaches are zero, or the bias.
TEST(TiledConvolution, OutputPadding) {
  Attributes attributes = {{"strides", Ints{1, 1}},
                           {"pads_before", Ints{1, 1}},
                           {"pads_after", Ints{1, 1}},
                           {"output_padding", Ints{2, 3}}};
  ExpectRight(
      OneNode(kConvTranspose,
              {F32({1, 16, 5, 6}), F32({16, 32, 3, 3}), F32({32})}, attributes),
      "cpu.winograd_4x4");
}

// If a window stops before the image's end, part of the image is not read.
TEST(TiledConvolution, GradientOfFewerPositionsThanFit) {
  ExpectRight(
      OneNode(kConvWeightGradient, {F32({2, 16, 12, 12}), F32({2, 32, 8, 5})},
              PaddedKernel({1, 1}, {1, 1})),
      "cpu.winograd_4x4_weight_gradient");
}

TEST(TiledConvolution, OthersAreNotOffered) {
  const Shape x = {2, 32, 12, 12};
  ExpectNone(Conv(x, 32, {{"strides", Ints{2, 2}}}));
  ExpectNone(Conv(x, 32, {{"dilations", Ints{2, 2}}}));
  ExpectNone(Conv(x, 19));
  ExpectNone(Conv({2, 19, 12, 12}, 32));
  ExpectNone(Conv({0, 32, 12, 12}, 32));
  ExpectNone(
      OneNode(kConv, {F32(x), F32({32, 16, 3, 3})}, {{"groups", int64_t{2}}}));
  ExpectNone(OneNode(kConv, {F32(x), F32({32, 32, 1, 1})}));
  ExpectNone(OneNode(kConv, {F32({2, 32, 12}), F32({32, 32, 3})}));
  ExpectNone(OneNode(kConvWeightGradient, {F32(x), F32({2, 32, 8, 8})},
                     {{"kernel", Ints{5, 5}}}));
  ExpectNone(OneNode(kConvWeightGradient, {F32(x), F32({2, 19, 10, 10})},
                     {{"kernel", Ints{3, 3}}}));
}

TEST(TiledConvolution, OtherTypesAreNotOffered) {
  const TensorType x = {DType::kBF16, {2, 32, 12, 12}, {}};
  const TensorType w = {DType::kBF16, {32, 32, 3, 3}, {}};
  const Attributes same = Padded({1, 1}, {1, 1});
  ExpectNone(OneNode(kConv, {x, w}, same));
  ExpectNone(OneNode(kConvTranspose, {x, w}, same));
  ExpectNone(
      OneNode(kConvWeightGradient, {x, x}, PaddedKernel({1, 1}, {1, 1})));
}

// Seconds of our fastest choice over those of oneDNN's.
double OverDirect(const OneNode& one, int threads) {
  const auto least = [&](const KernelCatalog& catalog) {
    const auto choices = catalog.Choices(one.node(), TestCpu(threads));
    EXPECT_FALSE(choices.empty()) << one.node().ToString();
    double seconds = 1;
    for (const KernelChoice& choice : choices) {
      seconds = std::min(seconds, choice.seconds);
    }
    return seconds;
  };
  return least(CpuCatalog()) / least(OnednnCatalog());
}

// For large images; not for a few tiles with many weights.
TEST(TiledConvolution, IsFastestWhereItSavesMoreThanItsTransforms) {
  EXPECT_LT(OverDirect(Conv({8, 64, 56, 56}, 64), 1), 0.7);
  EXPECT_LT(OverDirect(Conv({8, 512, 8, 8}, 512), 2), 0.7);
  EXPECT_GT(OverDirect(Conv({1, 512, 4, 4}, 512), 1), 1);
  EXPECT_GT(OverDirect(OneNode(kConvWeightGradient,
                               {F32({1, 16, 8, 8}), F32({1, 16, 8, 8})},
                               PaddedKernel({1, 1}, {1, 1})),
                       2),
            1);
}

// Results of constant weights keep their digits.
TEST(TiledConvolution, ConstantWeightsAreNotBeingTrained) {
  OneNode one = Conv({4, 64, 32, 32}, 64);
  ASSERT_FALSE(CpuCatalog().Choices(one.node(), TestCpu(2)).empty());
  const ValueId weights = one.graph().AddConstant(
      one.graph().literals().Add(HostTensor(F32({64, 64, 3, 3}))), "w",
      one.node().id());
  one.graph().SetOperand(one.node().id(), 1, weights);
  ExpectNone(one);
}

TEST(TiledConvolution, ItsArithmeticNamesTheTiles) {
  const OneNode one = Conv({4, 32, 16, 16}, 32);
  const auto choices = CpuCatalog().Choices(one.node(), TestCpu(1));
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(ArithmeticsText(choices[0].arithmetics),
            absl::StrCat("cpu.winograd_4x4 2",
                         HasFusedProducts() ? " fused products" : "",
                         " tiles not ieee"));
}

}  // namespace
}  // namespace partita
