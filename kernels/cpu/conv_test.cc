// Compares onednn.conv and onednn.conv_transpose with eval.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/kernel_check.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;
const Shape kScalar;

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

// Below AVX2 oneDNN may have only gemm for a fused node, which is then computed
// op by op.
bool MayBeInParts(const OpView& node) {
  return node.is(kFused) && dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx2;
}

std::vector<std::string> ExpectRight(const OneNode& one) {
  const CheckReport report =
      CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary());
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_TRUE(!report.kernels.empty() || MayBeInParts(one.node()))
      << one.node().ToString();
  return report.kernels;
}

TEST(OnednnConv, OddImagesAndChannels) {
  for (int64_t channels : {1, 3, 16, 19}) {
    for (int64_t kernel : {1, 3}) {
      ExpectRight(OneNode(kConv,
                          {F32({2, channels, 7, 9}),
                           F32({17, channels, kernel, kernel}), F32({17})},
                          {{"strides", Ints{2, 1}},
                           {"pads_before", Ints{1, 0}},
                           {"pads_after", Ints{0, 1}}}));
    }
  }
}

TEST(OnednnConv, DilationsAndNoBias) {
  ExpectRight(OneNode(kConv, {F32({1, 16, 11, 11}), F32({32, 16, 3, 3})},
                      {{"dilations", Ints{2, 2}},
                       {"pads_before", Ints{2, 2}},
                       {"pads_after", Ints{2, 2}}}));
}

TEST(OnednnConv, DepthwiseAndGroups) {
  struct Case {
    int64_t in, out, groups;
  };
  for (Case c : {Case{16, 16, 16}, Case{19, 19, 19}, Case{8, 32, 2},
                 Case{32, 32, 2}, Case{12, 18, 3}, Case{5, 10, 5}}) {
    ExpectRight(OneNode(
        kConv, {F32({1, c.in, 8, 8}), F32({c.out, c.in / c.groups, 3, 3})},
        {{"groups", c.groups},
         {"pads_before", Ints{1, 1}},
         {"pads_after", Ints{1, 1}}}));
  }
}

TEST(OnednnConv, OneAndThreeSpatialDimensions) {
  ExpectRight(OneNode(kConv, {F32({2, 5, 23}), F32({7, 5, 3})},
                      {{"pads_before", Ints{1}}, {"pads_after", Ints{1}}}));
  ExpectRight(OneNode(kConv, {F32({1, 3, 5, 6, 7}), F32({8, 3, 3, 3, 3})}));
  ExpectRight(OneNode(kConv, {F32({1, 16, 33}), F32({16, 1, 5})},
                      {{"groups", int64_t{16}}}));
}

TEST(OnednnConv, DepthwiseWeightsAreBlockedByTheirOnlyChannels) {
  const std::vector<std::string> kernels =
      ExpectRight(OneNode(kConv, {F32({1, 32, 14, 14}), F32({32, 1, 3, 3})},
                          {{"groups", int64_t{32}},
                           {"pads_before", Ints{1, 1}},
                           {"pads_after", Ints{1, 1}}}));
  const std::string all = absl::StrJoin(kernels, "\n");
  EXPECT_TRUE(absl::StrContains(all, "abcd16a) -> (abcd16b)") ||
              absl::StrContains(all, "abcd8a) -> (abcd8b)"))
      << all;
}

bool HasVectorsOf8() { return VectorChannels() < 16; }

std::string Offered(const OneNode& one) {
  return absl::StrJoin(ExpectRight(one), "\n");
}

// oneDNN gives a single channel the stride of the positions.
TEST(OnednnConv, OneChannelIsReadRowMajorAndBlocksAreWritten) {
  const std::string all =
      Offered(OneNode(kConv, {F32({2, 1, 14, 14}), F32({10, 1, 5, 5})}));
  EXPECT_TRUE(absl::StrContains(all, ") -> (abcd16b)") ||
              absl::StrContains(all, ") -> (acdb)"))
      << all;
}

// Windows that reach far outside the image, along its last dimension and
// others.
TEST(OnednnConv, WidePaddingIsWrittenOut) {
  for (int64_t channels : {8, 19}) {
    const std::string all = Offered(OneNode(
        kConv,
        {F32({2, channels, 7, 30}), F32({16, channels, 3, 21}), F32({16})},
        {{"pads_before", Ints{1, 10}}, {"pads_after", Ints{1, 8}}}));
    EXPECT_TRUE(absl::StrContains(all, "onednn.padded_conv")) << all;
    ExpectRight(OneNode(kConv, {F32({1, channels, 40}), F32({8, channels, 9})},
                        {{"pads_before", Ints{0}},
                         {"pads_after", Ints{8}},
                         {"strides", Ints{2}}}));
  }
  ExpectRight(OneNode(kConv, {F32({2, 16, 9, 12}), F32({16, 1, 1, 11})},
                      {{"groups", int64_t{16}},
                       {"pads_before", Ints{0, 5}},
                       {"pads_after", Ints{0, 5}}}));
}

OneNode WeightGradient(const Shape& x, const Shape& dy, int64_t kernel,
                       int64_t groups = 1, const Ints& strides = {1, 1}) {
  return OneNode(kConvWeightGradient, {F32(x), F32(dy)},
                 {{"kernel", Ints{kernel, kernel}},
                  {"groups", groups},
                  {"strides", strides}});
}

// Below AVX2 oneDNN has gradients by gemm only.
bool HasBlockedGradients() {
  return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx2;
}

TEST(OnednnConvWeightGradient, WholeBlocksStayOrAreReordered) {
  const std::string all =
      Offered(WeightGradient({2, 16, 9, 8}, {2, 32, 7, 6}, 3));
  EXPECT_EQ(absl::StrContains(all, "b) -> (abcd"), HasBlockedGradients())
      << all;
  EXPECT_TRUE(absl::StrContains(all, "b) -> (-)")) << all;
}

// oneDNN's padding is not part of the result.
TEST(OnednnConvWeightGradient, ChannelsThatFillNoBlockAreReordered) {
  const std::string all =
      Offered(WeightGradient({3, 10, 12, 12}, {3, 20, 8, 8}, 5));
  EXPECT_TRUE(absl::StrContains(all, "b) -> (-)")) << all;
  EXPECT_FALSE(absl::StrContains(all, "b) -> (abcd")) << all;
}

TEST(OnednnConvWeightGradient, OneChannelAndGroups) {
  ExpectRight(WeightGradient({2, 1, 12, 12}, {2, 10, 8, 8}, 5));
  ExpectRight(WeightGradient({2, 8, 9, 9}, {2, 12, 7, 7}, 3, 2));
  ExpectRight(WeightGradient({2, 16, 9, 9}, {2, 16, 7, 7}, 3, 16));
}

// With channels last, a oneDNN kernel writes beyond its scratchpad.
TEST(OnednnConvWeightGradient, StridesOverFewerChannelsThanABlock) {
  for (int64_t channels : {1, 2, 3, 4, 6, 7, 8, 12, 15}) {
    const std::string all = Offered(
        WeightGradient({4, channels, 28, 28}, {4, 16, 14, 14}, 1, 1, {2, 2}));
    EXPECT_TRUE(absl::StrContains(all, "(acdb acdb)")) << all;
  }
  ExpectRight(WeightGradient({4, 3, 28, 28}, {4, 16, 28, 14}, 1, 1, {1, 2}));
}

TEST(OnednnConvTranspose, StridesPadsAndGroups) {
  ExpectRight(OneNode(kConvTranspose,
                      {F32({1, 16, 5, 6}), F32({16, 19, 3, 3}), F32({19})},
                      {{"strides", Ints{2, 2}},
                       {"pads_before", Ints{1, 1}},
                       {"pads_after", Ints{1, 1}},
                       {"output_padding", Ints{1, 1}}}));
  ExpectRight(OneNode(kConvTranspose, {F32({1, 8, 5, 6}), F32({8, 3, 2, 2})},
                      {{"strides", Ints{2, 2}}, {"groups", int64_t{2}}}));
}

// conv + bias + residual + activation, as the pass makes it.
OneNode FusedConv(const OpDef& activation, Attributes attributes,
                  bool residual_first, int64_t channels) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({1, channels, 9, 9}));
  const ValueId w = body->AddInput("w", F32({channels, channels, 3, 3}));
  const ValueId b = body->AddInput("b", F32({1, channels, 1, 1}));
  const ValueId r = body->AddInput("r", F32({1, channels, 9, 9}));
  const ValueId c =
      *body->AddValue({.op = &kConv,
                       .operands = {x, w},
                       .attributes = {{"pads_before", Ints{1, 1}},
                                      {"pads_after", Ints{1, 1}}}});
  const ValueId d = *body->AddValue({.op = &kAdd, .operands = {c, b}});
  const ValueId e = *body->AddValue(
      {.op = &kAdd,
       .operands = residual_first ? ValueIds{r, d} : ValueIds{d, r}});
  body->SetOutputs({*body->AddValue({.op = &activation,
                                     .operands = {e},
                                     .attributes = std::move(attributes)})});
  return OneNode(std::move(pool), std::move(body));
}

TEST(OnednnConv, BiasResidualAndActivationAreFused) {
  for (int64_t channels : {16, 19}) {
    for (bool first : {false, true}) {
      ExpectRight(FusedConv(kRelu, {}, first, channels));
    }
    ExpectRight(FusedConv(kSigmoid, {}, false, channels));
    ExpectRight(FusedConv(kHardSwish, {}, false, channels));
    ExpectRight(FusedConv(kSilu, {}, false, channels));
    ExpectRight(FusedConv(kHardSigmoid, {}, false, channels));
    ExpectRight(
        FusedConv(kClip, {{"min", 0.0}, {"max", 6.0}}, false, channels));
    ExpectRight(FusedConv(kLeakyRelu, {{"alpha", 0.1}}, false, channels));
    ExpectRight(FusedConv(kTanh, {}, false, channels));
    ExpectRight(FusedConv(kGelu, {}, false, channels));
  }
}

TEST(OnednnConv, AnActivationWithoutPostOpIsNotOffered) {
  const OneNode one = FusedConv(kSin, {}, false, 16);
  EXPECT_TRUE(OnednnCatalog().Choices(one.node(), TestCpu(1)).empty());
}

TEST(OnednnConv, AGateOverTheChannelsAndAScalarAreFused) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({1, 16, 9, 9}));
  const ValueId w = body->AddInput("w", F32({24, 16, 1, 1}));
  const ValueId g = body->AddInput("g", F32({1, 24, 1, 1}));
  const ValueId c = *body->AddValue({.op = &kConv, .operands = {x, w}});
  const ValueId d = *body->AddValue({.op = &kMul, .operands = {c, g}});
  const ValueId s =
      body->AddConstant(pool->Add(HostTensor::Of<float>(kScalar, {0.5f})));
  const ValueId e = *body->AddValue({.op = &kMul, .operands = {s, d}});
  const ValueId f = *body->AddValue({.op = &kSigmoid, .operands = {e}});
  body->SetOutputs({*body->AddValue({.op = &kMul, .operands = {e, f}})});
  ExpectRight(OneNode(std::move(pool), std::move(body)));
}

// With channels last, oneDNN's gemm goes plane by plane and reads other
// channels' values.
TEST(OnednnConv, AGateOverTheChannelsOfVolumes) {
  for (int64_t channels : {16, 33}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueId x = body->AddInput("x", F32({2, 15, 7, 3, 5}));
    const ValueId w = body->AddInput("w", F32({channels, 15, 2, 1, 2}));
    const ValueId g = body->AddInput("g", F32({1, channels, 1, 1, 1}));
    const ValueId c = *body->AddValue({.op = &kConv, .operands = {x, w}});
    body->SetOutputs({*body->AddValue({.op = &kMul, .operands = {c, g}})});
    ExpectRight(OneNode(std::move(pool), std::move(body)));
  }
}

// An image of one channel and one pixel is row-major and has channels last too;
// oneDNN's gemm then takes the operands for one value per channel.
TEST(OnednnConv, OperandsOfEveryImageForOneChannelAndPixel) {
  for (int64_t channels : {1, 3}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueId x = body->AddInput("x", F32({3, 7, 1}));
    const ValueId w = body->AddInput("w", F32({channels, 7, 3}));
    const ValueId s = body->AddInput("s", F32({3, channels, 1}));
    const ValueId g = body->AddInput("g", F32({3, channels, 1}));
    const ValueId c = *body->AddValue(
        {.op = &kConv,
         .operands = {x, w},
         .attributes = {{"pads_before", Ints{0}}, {"pads_after", Ints{2}}}});
    const ValueId d = *body->AddValue({.op = &kAdd, .operands = {c, s}});
    body->SetOutputs({*body->AddValue({.op = &kMul, .operands = {d, g}})});
    ExpectRight(OneNode(std::move(pool), std::move(body)));
  }
}

// With SSE 4.1 and channels last, a oneDNN kernel crashes.
TEST(OnednnConv, DepthwiseWithASumOfChannelsThatFillNoVector) {
  for (int64_t channels : {3, 6, 15, 19}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueId x = body->AddInput("x", F32({2, channels, 9, 7}));
    const ValueId w = body->AddInput("w", F32({channels, 1, 3, 3}));
    const ValueId r = body->AddInput("r", F32({2, channels, 7, 5}));
    const ValueId c = *body->AddValue({.op = &kConv,
                                       .operands = {x, w},
                                       .attributes = {{"groups", channels}}});
    body->SetOutputs({*body->AddValue({.op = &kAdd, .operands = {c, r}})});
    ExpectRight(OneNode(std::move(pool), std::move(body)));
  }
}

// Operands as large as the result, in addition to the first one that is added.
TEST(OnednnConv, SeveralOperandsOfTheResultsExtents) {
  for (int64_t channels : {16, 19}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueId x = body->AddInput("x", F32({1, channels, 9, 9}));
    const ValueId w = body->AddInput("w", F32({channels, channels, 1, 1}));
    const ValueId r = body->AddInput("r", F32({1, channels, 9, 9}));
    const ValueId g = body->AddInput("g", F32({1, channels, 9, 9}));
    const ValueId t = body->AddInput("t", F32({1, channels, 9, 9}));
    const ValueId c = *body->AddValue({.op = &kConv, .operands = {x, w}});
    const ValueId d = *body->AddValue({.op = &kAdd, .operands = {c, r}});
    const ValueId e = *body->AddValue({.op = &kMul, .operands = {g, d}});
    const ValueId f = *body->AddValue({.op = &kAdd, .operands = {e, t}});
    body->SetOutputs({*body->AddValue({.op = &kSigmoid, .operands = {f}})});
    ExpectRight(OneNode(std::move(pool), std::move(body)));
  }
}

// Operands that vary by pixel or by image, but not by channel as well. Below
// AVX-512 only gemm reads most of them, one element at a time; fused nodes do
// not use it.
TEST(OnednnConv, OperandsOfEveryBroadcastAreReadRight) {
  for (int64_t channels : {16, 19}) {
    for (const Shape& dims :
         {Shape{1, 1, 9, 7}, Shape{2, channels, 1, 1}, Shape{2, 1, 1, 1},
          Shape{1, channels, 9, 1}, Shape{7}, Shape{1}}) {
      auto pool = std::make_unique<LiteralPool>();
      auto body = std::make_unique<Graph>("body", pool.get());
      const ValueId x = body->AddInput("x", F32({2, channels, 9, 7}));
      const ValueId w = body->AddInput("w", F32({channels, channels, 1, 1}));
      const ValueId g = body->AddInput("g", F32(dims));
      const ValueId c = *body->AddValue({.op = &kConv, .operands = {x, w}});
      body->SetOutputs({*body->AddValue({.op = &kMul, .operands = {c, g}})});
      const OneNode one(std::move(pool), std::move(body));
      const CheckReport report =
          CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary());
      EXPECT_TRUE(report.status.ok()) << report.status;
      const bool is_scalar = dims == Shape{1};
      EXPECT_TRUE(!report.kernels.empty() || MayBeInParts(one.node()) ||
                  (HasVectorsOf8() && !is_scalar))
          << one.node().ToString();
    }
  }
}

// relu(conv(x) + x) and conv(x) + r, times r.
OneNode ReadTwice(int64_t channels, bool by_the_root) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({1, channels, 9, 9}));
  const ValueId w = body->AddInput("w", F32({channels, channels, 3, 3}));
  const ValueId r =
      by_the_root ? x : body->AddInput("r", F32({1, channels, 9, 9}));
  const ValueId c =
      *body->AddValue({.op = &kConv,
                       .operands = {x, w},
                       .attributes = {{"pads_before", Ints{1, 1}},
                                      {"pads_after", Ints{1, 1}}}});
  const ValueId d = *body->AddValue({.op = &kAdd, .operands = {c, r}});
  body->SetOutputs({by_the_root
                        ? *body->AddValue({.op = &kRelu, .operands = {d}})
                        : *body->AddValue({.op = &kMul, .operands = {d, r}})});
  return OneNode(std::move(pool), std::move(body));
}

TEST(OnednnConv, AnOperandThatIsReadTwiceIsFusedAndNeverInPlace) {
  for (int64_t channels : {16, 19}) {
    for (bool by_the_root : {true, false}) {
      const OneNode one = ReadTwice(channels, by_the_root);
      ExpectRight(one);
      for (const KernelChoice& choice :
           OnednnCatalog().Choices(one.node(), TestCpu(1))) {
        EXPECT_TRUE(choice.in_place.empty());
        EXPECT_TRUE(!by_the_root || choice.operands[0] == choice.results[0]);
      }
    }
  }
}

TEST(OnednnConv, TheLibrarysDefaultPrecisionDoesNotMatter) {
  dnnl::fpmath_mode before;
  ASSERT_EQ(dnnl_get_default_fpmath_mode(
                reinterpret_cast<dnnl_fpmath_mode_t*>(&before)),
            dnnl_success);
  dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_any);
  ExpectRight(OneNode(kConv, {F32({1, 64, 9, 9}), F32({64, 64, 3, 3})}));
  dnnl_set_default_fpmath_mode(static_cast<dnnl_fpmath_mode_t>(before));
}

TensorType BF16(Shape dims) { return {DType::kBF16, std::move(dims), {}}; }

// Within a unit in the last place of the largest result. Without AVX-512 no
// kernel is offered.
void ExpectBf16Right(const OneNode& one) {
  const CheckReport report = CheckKernels(
      one.node(), OnednnCatalog(), OnednnLibrary(), {.tolerance = 0.008});
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.empty(), VectorChannels() < 16)
      << one.node().ToString();
}

TEST(OnednnConv, ConvolutionsOfBf16AndTheirGradients) {
  const Attributes same = {{"pads_before", Ints{1, 1}},
                           {"pads_after", Ints{1, 1}}};
  for (int64_t channels : {3, 16, 19}) {
    const TensorType x = BF16({2, channels, 7, 9});
    const TensorType y = BF16({2, 32, 7, 9});
    ExpectBf16Right(OneNode(kConv, {x, BF16({32, channels, 3, 3})}, same));
    ExpectBf16Right(
        OneNode(kConvTranspose, {y, BF16({32, channels, 3, 3})}, same));
    Attributes gradient = same;
    gradient.Set("kernel", Ints{3, 3});
    ExpectBf16Right(OneNode(kConvWeightGradient, {x, y}, gradient));
  }
}

}  // namespace
}  // namespace partita
