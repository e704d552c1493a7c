// What the cost-only catalog offers for convolutions, products and fused nodes.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cost_only/cost_only_catalog.h"

#include <memory>
#include <utility>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

DeviceTraits Gpu() {
  DeviceTraits gpu;
  gpu.name = "gpu:0";
  gpu.kind = DeviceKind::kCuda;
  gpu.peak_flops.fill(60e12);
  gpu.memory_bandwidth = 3e12;
  gpu.launch_seconds = 3e-6;
  return gpu;
}

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

TEST(CostOnlyCatalog, AConvolutionIsOfferedRowMajor) {
  const OneNode one(kConv, {F32({1, 8, 9, 9}), F32({16, 8, 3, 3}), F32({16})});
  const auto choices = CostOnlyCatalog().Choices(one.node(), Gpu());
  ASSERT_EQ(choices.size(), 1);
  EXPECT_EQ(choices[0].kernel, "cost_only.conv");
  EXPECT_TRUE(choices[0].operands[0].is_row_major());
  EXPECT_TRUE(choices[0].results[0].is_row_major());
  EXPECT_EQ(choices[0].workspace, 16 * 7 * 7 * 4);
}

TEST(CostOnlyCatalog, LargeProductsAreBoundByFlopsAndSmallOnesByLaunch) {
  const OneNode large(kMatmul, {F32({4096, 4096}), F32({4096, 4096})});
  const auto choices = CostOnlyCatalog().Choices(large.node(), Gpu());
  ASSERT_EQ(choices.size(), 1);
  EXPECT_NEAR(choices[0].seconds, 2 * 4096.0 * 4096 * 4096 / (0.7 * 60e12),
              5e-6);
  EXPECT_EQ(choices[0].workspace, 32 << 20);
  const OneNode small(kMatmul, {F32({4, 4}), F32({4, 4})});
  EXPECT_NEAR(CostOnlyCatalog().Choices(small.node(), Gpu())[0].seconds, 3e-6,
              1e-7);
}

TEST(CostOnlyCatalog, AFusedNodeIsOfItsHeavyOpsFamily) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({4, 8}));
  const ValueId w = body->AddInput("w", F32({8, 2}));
  const ValueId y = *body->AddValue({.op = &kMatmul, .operands = {x, w}});
  body->SetOutputs({*body->AddValue({.op = &kRelu, .operands = {y}})});
  const OneNode one(std::move(pool), std::move(body));
  const auto choices = CostOnlyCatalog().Choices(one.node(), Gpu());
  ASSERT_EQ(choices.size(), 1);
  EXPECT_EQ(choices[0].kernel, "cost_only.matmul");
  EXPECT_TRUE(choices[0].in_place.empty());
}

TEST(CostOnlyCatalog, ElementwiseResultsMayTakeOverAsManyElementsOfTheirSize) {
  const auto pairs = [&](const OneNode& one) {
    return CostOnlyCatalog().Choices(one.node(), Gpu())[0].in_place;
  };
  using Pairs = std::vector<InPlacePair>;
  EXPECT_EQ(pairs(OneNode(kAdd, {F32({4}), F32({4})})),
            (Pairs{{0, 0}, {1, 0}}));
  EXPECT_EQ(pairs(OneNode(kAdd, {F32({1}), F32({4})})), (Pairs{{1, 0}}));
  EXPECT_EQ(pairs(OneNode(kLess, {F32({4}), F32({4})})), Pairs());
  EXPECT_EQ(pairs(OneNode(kMatmul, {F32({4, 4}), F32({4, 4})})), Pairs());
}

// Each row of the sum reads %h again.
TEST(CostOnlyCatalog, ResultsOfSeveralExtentsOverwriteNothing) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({8, 4}));
  const ValueId h = body->AddInput("h", F32({4}));
  const ValueId sum = *body->AddValue({.op = &kAdd, .operands = {x, h}});
  body->SetOutputs({sum, *body->AddValue({.op = &kNeg, .operands = {h}})});
  const OneNode one(std::move(pool), std::move(body));
  EXPECT_TRUE(CostOnlyCatalog().Choices(one.node(), Gpu())[0].in_place.empty());
}

TEST(CostOnlyCatalog, DevicesWithKernelsAreLeftToOthers) {
  const OneNode one(kRelu, {F32({4})});
  EXPECT_TRUE(CostOnlyCatalog().Choices(one.node(), TestCpu(1)).empty());
  DeviceTraits gpu = Gpu();
  for (const char* isa : {"", "sm_75"}) {
    gpu.isa = isa;
    EXPECT_EQ(CostOnlyCatalog().Choices(one.node(), gpu).size(), 1u) << isa;
  }
  for (const char* isa : {"sm_80", "sm_90a", "sm_120"}) {
    gpu.isa = isa;
    EXPECT_TRUE(CostOnlyCatalog().Choices(one.node(), gpu).empty()) << isa;
  }
}

}  // namespace
}  // namespace partita
