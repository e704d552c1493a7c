// Which image oneDNN gets if the last extents are 1, and its result.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_answers.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/testing/kernel_check.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace partita {
namespace {

using Dims = dnnl::memory::dims;
using Ints = std::vector<int64_t>;

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }

// The extents of the image that the family's first primitive reads or, for a
// gradient of a pool, writes.
Dims Asked(const char* kernel, const OpView& node, dnnl::query image) {
  const OnednnFamily& family = *OnednnFamilyOf(kernel);
  for (const LayoutWish& wish : family.wishes(node)) {
    const auto recipe = Describe(family, node, wish);
    if (recipe.ok()) return recipe->primitive.query_md(image).dims();
  }
  ADD_FAILURE() << "no " << kernel << " for " << node.ToString();
  return {};
}

void ExpectRight(const OneNode& one) {
  const CheckReport report =
      CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary());
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_FALSE(report.kernels.empty()) << one.node().ToString();
}

OneNode Conv(const Shape& x, const Shape& w, Attributes attributes = {}) {
  return OneNode(kConv, {F32(x), F32(w), F32({w[0]})}, std::move(attributes));
}

TEST(SpatialOrder, ExtentsOf1AreNotTheLast) {
  const auto source = dnnl::query::src_md;
  EXPECT_EQ(Asked("onednn.conv", Conv({1, 16, 512, 1}, {16, 16, 5, 1}).node(),
                  source),
            (Dims{1, 16, 1, 512}));
  EXPECT_EQ(Asked("onednn.conv", Conv({1, 8, 20, 1, 6}, {8, 8, 3, 1, 3}).node(),
                  source),
            (Dims{1, 8, 1, 20, 6}));
  EXPECT_EQ(Asked("onednn.conv", Conv({1, 8, 20, 1, 1}, {8, 8, 3, 1, 1}).node(),
                  source),
            (Dims{1, 8, 1, 1, 20}));
  const OneNode transposed(kConvTranspose,
                           {F32({1, 16, 64, 1}), F32({16, 16, 5, 1})});
  EXPECT_EQ(Asked("onednn.conv_transpose", transposed.node(), source),
            (Dims{1, 16, 1, 64}));
  const OneNode gradient(kConvWeightGradient,
                         {F32({1, 16, 64, 1}), F32({1, 16, 60, 1})},
                         {{"kernel", Ints{5, 1}}});
  EXPECT_EQ(Asked("onednn.conv_weight_gradient", gradient.node(), source),
            (Dims{1, 16, 1, 64}));
  const OneNode pool(kAvgPool, {F32({1, 16, 64, 1})},
                     {{"kernel", Ints{4, 1}}, {"strides", Ints{4, 1}}});
  EXPECT_EQ(Asked("onednn.pool", pool.node(), source), (Dims{1, 16, 1, 64}));
  const OneNode of_pool(kAvgPoolGradient, {F32({1, 16, 16, 1})},
                        {{"kernel", Ints{4, 1}},
                         {"strides", Ints{4, 1}},
                         {"sizes", Ints{64, 1}}});
  EXPECT_EQ(
      Asked("onednn.pool_gradient", of_pool.node(), dnnl::query::diff_src_md),
      (Dims{1, 16, 1, 64}));
}

// The bytes would be in another order, or taps be lost.
TEST(SpatialOrder, WhatIsWiderThan1Stays) {
  const auto source = dnnl::query::src_md;
  for (const Shape& x : {Shape{1, 16, 1, 64}, Shape{1, 16, 64, 2}}) {
    EXPECT_EQ(Asked("onednn.conv", Conv(x, {16, 16, 1, 1}).node(), source),
              Dims(x.begin(), x.end()));
  }
  EXPECT_EQ(
      Asked("onednn.conv", Conv({1, 16, 64, 3}, {16, 16, 3, 3}).node(), source),
      (Dims{1, 16, 64, 3}));
  EXPECT_EQ(
      Asked("onednn.conv",
            Conv({1, 16, 64, 1}, {16, 16, 3, 3},
                 {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}})
                .node(),
            source),
      (Dims{1, 16, 64, 1}));
}

const Attributes kWindow = {{"strides", Ints{2, 1}},
                            {"dilations", Ints{2, 1}},
                            {"pads_before", Ints{1, 0}},
                            {"pads_after", Ints{3, 0}}};

TEST(SpatialOrder, ConvolutionsGiveEvalsNumbers) {
  for (int64_t channels : {16, 19}) {
    ExpectRight(Conv({2, channels, 23, 1}, {17, channels, 5, 1}, kWindow));
    ExpectRight(Conv({2, channels, 9, 1, 5}, {16, channels, 3, 1, 2}));
    ExpectRight(Conv({1, channels, 9, 1, 1}, {16, channels, 3, 1, 1}));
    Attributes depthwise = kWindow;
    depthwise.Set("groups", channels);
    ExpectRight(Conv({2, channels, 23, 1}, {channels, 1, 5, 1}, depthwise));
    ExpectRight(OneNode(kConvTranspose,
                        {F32({2, channels, 9, 1}), F32({channels, 16, 5, 1})},
                        {{"strides", Ints{2, 1}},
                         {"pads_before", Ints{1, 0}},
                         {"pads_after", Ints{0, 0}}}));
  }
  ExpectRight(Conv({2, 16, 23, 1}, {8, 8, 5, 1}, {{"groups", int64_t{2}}}));
}

TEST(SpatialOrder, GradientsAndPoolsGiveEvalsNumbers) {
  for (int64_t channels : {16, 19}) {
    ExpectRight(OneNode(kConvWeightGradient,
                        {F32({2, channels, 23, 1}), F32({2, 17, 10, 1})},
                        {{"kernel", Ints{5, 1}},
                         {"strides", Ints{2, 1}},
                         {"dilations", Ints{1, 1}}}));
    const Attributes window = {{"kernel", Ints{3, 1}},
                               {"strides", Ints{2, 1}},
                               {"pads_before", Ints{1, 0}},
                               {"pads_after", Ints{0, 0}}};
    ExpectRight(OneNode(kAvgPool, {F32({2, channels, 12, 1})}, window));
    Attributes back = window;
    back.Set("sizes", Ints{12, 1});
    ExpectRight(OneNode(kAvgPoolGradient, {F32({2, channels, 6, 1})}, back));
    ExpectRight(OneNode(kReduceMean, {F32({2, channels, 12, 1})},
                        {{"axes", Ints{2, 3}}, {"keep_dims", true}}));
  }
}

// After a convolution: an operand of each broadcast, along the moved dimension
// too, and one with the result's extents.
TEST(SpatialOrder, OperandsOfAnEpilogueAreReadRight) {
  for (int64_t channels : {16, 19}) {
    for (const Shape& dims :
         {Shape{1, 1, 9, 1}, Shape{2, channels, 1, 1}, Shape{2, channels, 9, 1},
          Shape{9, 1}, Shape{channels, 9, 1}, Shape{1}}) {
      auto pool = std::make_unique<LiteralPool>();
      auto body = std::make_unique<Graph>("body", pool.get());
      const ValueId x = body->AddInput("x", F32({2, channels, 11, 1}));
      const ValueId w = body->AddInput("w", F32({channels, channels, 3, 1}));
      const ValueId g = body->AddInput("g", F32(dims));
      const ValueId r = body->AddInput("r", F32({2, channels, 9, 1}));
      const ValueId c = *body->AddValue({.op = &kConv, .operands = {x, w}});
      const ValueId d = *body->AddValue({.op = &kMul, .operands = {c, g}});
      body->SetOutputs({*body->AddValue({.op = &kAdd, .operands = {d, r}})});
      const OneNode one(std::move(pool), std::move(body));
      const CheckReport report =
          CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary());
      EXPECT_TRUE(report.status.ok()) << report.status;
    }
  }
}

}  // namespace
}  // namespace partita
