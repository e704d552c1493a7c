// The kernels chosen if oneDNN's own first choice is slow, by name.
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_question.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

DeviceTraits CpuWith(const std::string& isa) {
  DeviceTraits device = TestCpu(2);
  device.isa = isa;
  return device;
}

// hard_swish(conv(x)) * s + t, as in PP-OCR.
OneNode ScaledConv(const Shape& x, const Shape& w, Attributes attributes) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId image = body->AddInput("x", F32(x));
  const ValueId weights = body->AddInput("w", F32(w));
  const ValueId s = body->AddInput("s", F32({1}));
  const ValueId t = body->AddInput("t", F32({1}));
  const ValueId c = *body->AddValue({.op = &kConv,
                                     .operands = {image, weights},
                                     .attributes = std::move(attributes)});
  const ValueId h = *body->AddValue({.op = &kHardSwish, .operands = {c}});
  const ValueId m = *body->AddValue({.op = &kMul, .operands = {h, s}});
  body->SetOutputs({*body->AddValue({.op = &kAdd, .operands = {m, t}})});
  return OneNode(std::move(pool), std::move(body));
}

OneNode Pointwise() {
  return ScaledConv({1, 480, 6, 80}, {480, 480, 1, 1}, {});
}

// oneDNN has only gemm for groups that fill no vector.
const Attributes kGroups = {{"groups", int64_t{3}}};
OneNode OddGroups() {
  return ScaledConv({1, 9, 20, 60}, {15, 3, 3, 3}, kGroups);
}

TEST(SlowImplementations, GemmDoesNotGetPostOpsThatItComputesOneByOne) {
  const OneNode one = Pointwise();
  const std::vector<KernelChoice> choices =
      OnednnCatalog().Choices(one.node(), CpuWith("avx2"));
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(ArithmeticsText(choices[0].arithmetics),
            "onednn 2.6.3 jit_1x1:avx2 threads 2");
  for (const KernelChoice& choice : choices) {
    EXPECT_FALSE(
        absl::StrContains(choice.arithmetics[0].implementation, "gemm"))
        << ArithmeticsText(choice.arithmetics);
  }
}

TEST(SlowImplementations, WithGemmAloneTheNodeIsComputedOpByOp) {
  const OneNode whole = OddGroups();
  EXPECT_TRUE(OnednnCatalog().Choices(whole.node(), CpuWith("avx2")).empty());
  const OneNode product(kConv, {F32({1, 9, 20, 60}), F32({15, 3, 3, 3})},
                        kGroups);
  EXPECT_FALSE(
      OnednnCatalog().Choices(product.node(), CpuWith("avx2")).empty());
}

absl::StatusOr<BoundKernel> BindEmulated(const OneNode& one) {
  const KernelBinding binding = {.kernel = "onednn", .workspace = 1 << 26};
  DeviceTraits device = TestCpu(1);
  BindRequest request = {
      .node = one.node(), .binding = &binding, .device = &device};
  request.emulates = true;
  return OnednnLibrary().Bind(request);
}

TEST(SlowImplementations, EmulatedDevicesDoNotUseThem) {
  const auto pointwise = BindEmulated(Pointwise());
  ASSERT_TRUE(pointwise.ok()) << pointwise.status();
  EXPECT_FALSE(absl::StrContains(pointwise->arithmetic.implementation, "gemm"))
      << pointwise->arithmetic.ToString();
  const auto groups = BindEmulated(OddGroups());
  EXPECT_TRUE(VectorChannels() == 16 ||
              groups.status().code() == absl::StatusCode::kUnimplemented);
}

TEST(SlowImplementations, ImagesArePaddedBeforeWindowsThatReachFar) {
  const OneNode one(
      kConv, {F32({1, 8, 172, 264}), F32({8, 8, 3, 39})},
      {{"pads_before", Ints{1, 19}}, {"pads_after", Ints{1, 19}}});
  const std::vector<KernelChoice> choices =
      OnednnCatalog().Choices(one.node(), CpuWith("avx2"));
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(choices[0].kernel, "onednn.padded_conv");
  EXPECT_EQ(ArithmeticsText(choices[0].arithmetics),
            "onednn 2.6.3 jit:avx2 threads 2");
}

OneNode Product(int64_t rows, int64_t depth, int64_t columns) {
  return OneNode(kMatmul, {F32({rows, depth}), F32({depth, columns})});
}

TEST(SlowImplementations, AProductIsAConvolutionWhereGemmIsAllElse) {
  const OneNode one = Product(128, 384, 1536);
  const std::vector<KernelChoice> choices =
      OnednnCatalog().Choices(one.node(), CpuWith("avx2"));
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].kernel, "onednn.matmul_by_conv");
  EXPECT_EQ(ArithmeticsText(choices[0].arithmetics),
            "onednn 2.6.3 jit_1x1:avx2 threads 2");
  EXPECT_EQ(choices[0].operands[1].ToString(), "ba8a8b");
  EXPECT_EQ(choices[1].kernel, "onednn.matmul");
  EXPECT_EQ(ArithmeticsText(choices[1].arithmetics),
            "onednn 2.6.3 gemm:jit avx2 threads 2");
}

TEST(SlowImplementations, GemmOfRowsAPowerOfTwoApartIsPredictedSlow) {
  const OnednnCatalog catalog;
  const auto seconds = [&](int64_t columns) {
    for (const KernelChoice& choice :
         catalog.Choices(Product(128, 384, columns).node(), CpuWith("avx2"))) {
      if (choice.kernel == "onednn.matmul") return choice.seconds;
    }
    ADD_FAILURE() << "no product";
    return 0.0;
  };
  EXPECT_GT(seconds(1024), 1.9 * seconds(1016));
  EXPECT_GT(seconds(1536), 1.3 * seconds(1528));
}

TEST(SlowImplementations, ReferenceLoopsAreFallbacks) {
  const OneNode one = Product(2, 3, 4);
  const auto choices = ParseOnednnAnswer(
      "onednn.matmul\n- -\n-\n0\n0\n\nonednn 2.6.3 ref:any avx2\n"
      "onednn.matmul\n- -\n-\n0\n0\n\nonednn 2.6.3 gemm:jit avx2\n",
      one.node());
  ASSERT_TRUE(choices.ok()) << choices.status();
  ASSERT_EQ(choices->size(), 2u);
  EXPECT_TRUE((*choices)[0].fallback);
  EXPECT_FALSE((*choices)[1].fallback);
}

}  // namespace
}  // namespace partita
