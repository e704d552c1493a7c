// Compares onednn.matmul with eval.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

void ExpectRightIfOffered(const OneNode& one) {
  const CheckReport report =
      CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary());
  EXPECT_TRUE(report.status.ok()) << report.status;
}

void ExpectRight(const OneNode& one) {
  ExpectRightIfOffered(one);
  EXPECT_FALSE(OnednnCatalog().Choices(one.node(), TestCpu(1)).empty())
      << one.node().ToString();
}

TEST(OnednnMatmul, MatricesOfOddExtents) {
  for (int64_t m : {1, 7, 64}) {
    for (int64_t k : {1, 13, 64}) {
      for (int64_t n : {1, 5, 33, 64}) {
        ExpectRight(OneNode(kMatmul, {F32({m, k}), F32({k, n})}));
      }
    }
  }
}

// oneDNN 2.6 divides by the low 32 bits of these extents, which ends the
// process.
TEST(OnednnMatmul, MoreThan32BitsCountIsNotOffered) {
  const OnednnCatalog catalog;
  for (int64_t rows :
       {int64_t{1} << 31, int64_t{1} << 32, (int64_t{1} << 32) + 1}) {
    const OneNode tall(kMatmul, {F32({rows, 2}), F32({2, 3})});
    EXPECT_TRUE(catalog.Choices(tall.node(), TestCpu(1)).empty()) << rows;
    const OneNode deep(kMatmul, {F32({2, rows}), F32({rows, 3})});
    EXPECT_TRUE(catalog.Choices(deep.node(), TestCpu(1)).empty()) << rows;
  }
}

TEST(OnednnMatmul, TransposedOperands) {
  for (bool a : {false, true}) {
    for (bool b : {false, true}) {
      ExpectRight(OneNode(kMatmul,
                          {F32(a ? Shape{13, 7} : Shape{7, 13}),
                           F32(b ? Shape{37, 13} : Shape{13, 37})},
                          {{"transpose_a", a}, {"transpose_b", b}}));
      ExpectRight(OneNode(kMatmul,
                          {F32(a ? Shape{2, 3, 13, 7} : Shape{2, 3, 7, 13}),
                           F32(b ? Shape{3, 5, 13} : Shape{3, 13, 5})},
                          {{"transpose_a", a}, {"transpose_b", b}}));
    }
  }
}

TEST(OnednnMatmul, VectorsAndBatches) {
  ExpectRight(OneNode(kMatmul, {F32({13}), F32({13})}));
  ExpectRight(OneNode(kMatmul, {F32({13}), F32({13, 5})}));
  ExpectRight(OneNode(kMatmul, {F32({7, 13}), F32({13})}));
  ExpectRight(OneNode(kMatmul, {F32({5, 3, 13}), F32({13})}));
  ExpectRight(OneNode(kMatmul, {F32({2, 7, 13}), F32({13, 5})}));
  ExpectRight(OneNode(kMatmul, {F32({4, 1, 7, 13}), F32({3, 13, 5})}));
  ExpectRight(OneNode(kMatmul, {F32({13}), F32({3, 13, 5})}));
}

OneNode Fused(Shape a, Shape b, Shape bias, bool residual,
              const OpDef& activation) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32(a));
  const ValueId w = body->AddInput("w", F32(b));
  const ValueId v = body->AddInput("v", F32(bias));
  ValueId y = *body->AddValue({.op = &kMatmul, .operands = {x, w}});
  const Shape dims = body->type(y).dims;
  y = *body->AddValue({.op = &kAdd, .operands = {v, y}});
  if (residual) {
    const ValueId r = body->AddInput("r", F32(dims));
    y = *body->AddValue({.op = &kAdd, .operands = {y, r}});
  }
  body->SetOutputs({*body->AddValue({.op = &activation, .operands = {y}})});
  return OneNode(std::move(pool), std::move(body));
}

TEST(OnednnMatmul, BiasResidualAndActivationAreFused) {
  ExpectRight(Fused({7, 13}, {13, 33}, {33}, false, kRelu));
  ExpectRight(Fused({2, 7, 13}, {13, 33}, {33}, true, kGelu));
  ExpectRight(Fused({2, 7, 16}, {16, 64}, {1, 1, 64}, true, kSigmoid));
}

// Below AVX-512 only reference loops compute it; fused nodes do not use those.
TEST(OnednnMatmul, BatchesWithAScalarBiasAreFusedWhereFast) {
  const OneNode one = Fused({2, 3, 7, 13}, {2, 3, 13, 5}, {}, true, kRelu);
  ExpectRightIfOffered(one);
  EXPECT_EQ(OnednnCatalog().Choices(one.node(), TestCpu(1)).empty(),
            VectorChannels() < 16);
}

TEST(OnednnMatmul, AnOperandThatIsReadTwiceIsFusedAndNeverInPlace) {
  for (int shared : {0, 1}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueIds operands = {body->AddInput("x", F32({48, 48})),
                               body->AddInput("w", F32({48, 48}))};
    const ValueId y = *body->AddValue({.op = &kMatmul, .operands = operands});
    body->SetOutputs(
        {*body->AddValue({.op = &kAdd, .operands = {y, operands[shared]}})});
    const OneNode one(std::move(pool), std::move(body));
    ExpectRight(one);
    for (const KernelChoice& choice :
         OnednnCatalog().Choices(one.node(), TestCpu(1))) {
      EXPECT_TRUE(choice.in_place.empty());
      EXPECT_EQ(choice.operands[shared], choice.results[0]);
    }
  }
}

OneNode Scaled(int64_t rows, int64_t columns, const Shape& scales) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({rows, 8}));
  const ValueId w = body->AddInput("w", F32({8, columns}));
  const ValueId s = body->AddInput("s", F32(scales));
  const ValueId y = *body->AddValue({.op = &kMatmul, .operands = {x, w}});
  body->SetOutputs({*body->AddValue({.op = &kMul, .operands = {y, s}})});
  return OneNode(std::move(pool), std::move(body));
}

// Few elements, for which a slow post-op is cheaper than a loop of its own.
TEST(OnednnMatmul, OperandsOfEveryBroadcastAreReadRight) {
  for (int64_t rows : {1, 4, 33}) {
    for (int64_t columns : {1, 16, 19}) {
      for (const Shape& scales : {Shape{rows, 1}, Shape{1, columns},
                                  Shape{columns}, Shape{1}, Shape{}}) {
        ExpectRightIfOffered(Scaled(rows, columns, scales));
      }
    }
  }
}

// The operand is both sides and cannot have the layouts of both.
TEST(OnednnMatmul, ASquareIsRight) {
  for (bool transposed : {false, true}) {
    auto pool = std::make_unique<LiteralPool>();
    auto body = std::make_unique<Graph>("body", pool.get());
    const ValueId x = body->AddInput("x", F32({32, 32}));
    const ValueId y =
        *body->AddValue({.op = &kMatmul,
                         .operands = {x, x},
                         .attributes = {{"transpose_b", transposed}}});
    body->SetOutputs({*body->AddValue({.op = &kTanh, .operands = {y}})});
    ExpectRight(OneNode(std::move(pool), std::move(body)));
  }
}

TEST(OnednnMatmul, AMaskBroadcastOverHeadsIsRightIfOffered) {
  ExpectRightIfOffered(
      Fused({2, 3, 7, 13}, {2, 3, 13, 7}, {2, 1, 1, 7}, false, kRelu));
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
  for (const KernelChoice& choice :
       OnednnCatalog().Choices(one.node(), TestCpu(1))) {
    EXPECT_TRUE(choice.arithmetics[0].violates.denormals)
        << ArithmeticsText(choice.arithmetics);
  }
}

TEST(OnednnMatmul, ProductsOfBf16) {
  for (int64_t m : {1, 7, 64}) {
    for (int64_t k : {1, 13, 64}) {
      for (int64_t n : {1, 33, 64}) {
        ExpectBf16Right(OneNode(kMatmul, {BF16({m, k}), BF16({k, n})}));
      }
    }
  }
  ExpectBf16Right(OneNode(kMatmul, {BF16({2, 3, 7, 13}), BF16({2, 3, 13, 5})}));
  ExpectBf16Right(OneNode(kMatmul, {BF16({13, 7}), BF16({37, 13})},
                          {{"transpose_a", true}, {"transpose_b", true}}));
}

TEST(OnednnMatmul, AnEpilogueOfABf16ProductIsNotOffered) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", BF16({7, 13}));
  const ValueId w = body->AddInput("w", BF16({13, 5}));
  const ValueId y = *body->AddValue({.op = &kMatmul, .operands = {x, w}});
  body->SetOutputs({*body->AddValue({.op = &kRelu, .operands = {y}})});
  const OneNode one(std::move(pool), std::move(body));
  EXPECT_TRUE(OnednnCatalog().Choices(one.node(), TestCpu(1)).empty());
}

TEST(OnednnMatmul, SubnormalNumbersAreNotFlushed) {
  const OneNode one(kMatmul, {F32({1, 1}), F32({1, 1})});
  const KernelBinding binding{"onednn.matmul", 1 << 20, {}, {}};
  const DeviceTraits device = TestCpu(1);
  const auto kernel =
      std::move(OnednnLibrary().Bind({one.node(), &binding, &device})->kernel);
  float x = 1e-40f, w = 1.0f, y = 0;
  std::vector<char> workspace(1 << 20);
  std::vector<void*> operands = {&x, &w};
  std::vector<void*> results = {&y};
  ASSERT_TRUE(kernel
                  ->Launch({.operands = operands,
                            .results = results,
                            .workspace = workspace.data()})
                  .ok());
  EXPECT_EQ(y, 1e-40f);
}

}  // namespace
}  // namespace partita
