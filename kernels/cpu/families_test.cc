// Compares oneDNN's pools, binary functions, normalisation and resampling with
// eval.
// SPDX-License-Identifier: Apache-2.0

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

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

std::vector<std::string> ExpectRight(const OneNode& one,
                                     KernelCheckOptions options = {}) {
  const CheckReport report =
      CheckKernels(one.node(), OnednnCatalog(), OnednnLibrary(), options);
  EXPECT_TRUE(report.status.ok())
      << one.node().op_name() << ": " << report.status;
  EXPECT_FALSE(report.kernels.empty()) << one.node().op_name();
  return report.kernels;
}

void ExpectNotOffered(const OneNode& one) {
  EXPECT_TRUE(OnednnCatalog().Choices(one.node(), TestCpu(1)).empty())
      << one.node().op_name();
}

TEST(OnednnPool, Average) {
  for (int64_t channels : {1, 16, 19}) {
    Attributes window = {{"kernel", Ints{3, 2}},
                         {"strides", Ints{2, 1}},
                         {"pads_before", Ints{1, 0}},
                         {"pads_after", Ints{1, 1}}};
    ExpectRight(OneNode(kAvgPool, {F32({2, channels, 9, 7})}, window));
    window.Set("count_include_pad", true);
    ExpectRight(OneNode(kAvgPool, {F32({2, channels, 9, 7})}, window));
  }
}

TEST(OnednnPool, ExtraEndPaddingIsNeverCounted) {
  Attributes window = {{"kernel", Ints{3, 3}},
                       {"strides", Ints{2, 2}},
                       {"ceil_extra", Ints{1, 1}}};
  ExpectRight(OneNode(kAvgPool, {F32({1, 16, 8, 8})}, window));
  window.Set("count_include_pad", true);
  ExpectNotOffered(OneNode(kAvgPool, {F32({1, 16, 8, 8})}, window));
}

// Padding on one side, overlapping windows, and rows without a window.
TEST(OnednnPool, GradientOfTheAverage) {
  for (int64_t channels : {1, 16, 19}) {
    Attributes window = {{"kernel", Ints{3, 2}},
                         {"sizes", Ints{9, 7}},
                         {"strides", Ints{2, 1}},
                         {"pads_before", Ints{1, 0}},
                         {"pads_after", Ints{1, 1}}};
    const TensorType dy = F32({2, channels, 5, 7});
    ExpectRight(OneNode(kAvgPoolGradient, {dy}, window));
    window.Set("count_include_pad", true);
    ExpectRight(OneNode(kAvgPoolGradient, {dy}, window));
    ExpectRight(OneNode(kAvgPoolGradient, {F32({2, channels, 3, 2})},
                        {{"kernel", Ints{3, 3}},
                         {"sizes", Ints{11, 8}},
                         {"strides", Ints{3, 3}}}));
  }
}

TEST(OnednnPool, ExtraEndPaddingIsNeverCountedInGradients) {
  Attributes window = {{"kernel", Ints{3, 3}},
                       {"sizes", Ints{8, 8}},
                       {"strides", Ints{2, 2}},
                       {"ceil_extra", Ints{1, 1}}};
  ExpectRight(OneNode(kAvgPoolGradient, {F32({1, 16, 4, 4})}, window));
  window.Set("count_include_pad", true);
  ExpectNotOffered(OneNode(kAvgPoolGradient, {F32({1, 16, 4, 4})}, window));
}

TEST(OnednnPool, MeansOfImages) {
  for (int64_t channels : {3, 16, 32}) {
    for (bool keep : {false, true}) {
      const auto kernels =
          ExpectRight(OneNode(kReduceMean, {F32({2, channels, 7, 5})},
                              {{"axes", Ints{2, 3}}, {"keep_dims", keep}}));
      EXPECT_EQ(kernels.size(), channels % 16 == 0 ? 6 : 4);
    }
  }
}

TEST(OnednnFamilies, WhereNanIsLostNothingIsOffered) {
  ExpectNotOffered(OneNode(kMaxPool, {F32({1, 5, 17})}, {{"kernel", Ints{3}}}));
  for (const OpDef* op : {&kRelu, &kExp, &kSoftmax}) {
    ExpectNotOffered(OneNode(*op, {F32({2, 16, 3, 5})}));
  }
  for (const OpDef* op : {&kMax, &kMin}) {
    ExpectNotOffered(OneNode(*op, {F32({37}), F32({37})}));
  }
}

TEST(OnednnBinary, EqualShapesAndBroadcasts) {
  for (const OpDef* op : {&kAdd, &kSub, &kMul, &kDiv}) {
    KernelCheckOptions options;
    options.low = 0.5;
    for (int64_t c : {16, 19}) {
      ExpectRight(OneNode(*op, {F32({2, c, 3, 5}), F32({2, c, 3, 5})}),
                  options);
      ExpectRight(OneNode(*op, {F32({2, c, 3, 5}), F32({1, c, 1, 1})}),
                  options);
    }
    ExpectRight(OneNode(*op, {F32({2, 7, 33}), F32({33})}), options);
    ExpectRight(OneNode(*op, {F32({2, 7, 33}), F32(kScalar)}), options);
    ExpectRight(OneNode(*op, {F32({2, 7, 33}), F32({2, 1, 33})}), options);
    ExpectRight(OneNode(*op, {F32({2, 7, 33}), F32({2, 7, 1})}), options);
  }
  ExpectRight(OneNode(kAdd, {F32({33}), F32({2, 7, 33})}));
  ExpectNotOffered(OneNode(kAdd, {F32({2, 1}), F32({1, 3})}));
}

TEST(OnednnBinary, AGateOverWholeBlocksOfChannelsIsFast) {
  const OneNode one(kMul, {F32({1, 32, 3, 5}), F32({1, 32, 1, 1})});
  // Row-major, channels last and, if a vector holds a block, blocks, each with
  // 1 and 2 threads.
  const bool has_blocks = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx2;
  EXPECT_EQ(ExpectRight(one).size(), has_blocks ? 6 : 4);
  for (const KernelChoice& choice :
       OnednnCatalog().Choices(one.node(), TestCpu(1))) {
    EXPECT_FALSE(IsReferenceLoop(choice.arithmetics[0]))
        << ArithmeticsText(choice.arithmetics);
  }
}

TEST(OnednnNorm, BatchNormOfImages) {
  KernelCheckOptions options;
  options.low = 0.1;
  options.tolerance = 1e-5;
  for (int64_t c : {16, 19}) {
    ExpectRight(OneNode(kBatchNorm, {F32({2, c, 3, 5}), F32({c}), F32({c}),
                                     F32({c}), F32({c})}),
                options);
  }
}

TEST(OnednnNorm, LayerNormOfTheLastDimensions) {
  KernelCheckOptions options;
  options.tolerance = 1e-5;
  ExpectRight(OneNode(kLayerNorm, {F32({2, 7, 33}), F32({33}), F32({33})}),
              options);
  ExpectRight(OneNode(kLayerNorm, {F32({2, 7, 33}), F32({33})}), options);
  ExpectRight(OneNode(kLayerNorm, {F32({2, 7, 33}), F32({7, 33})},
                      {{"axis", int64_t{1}}}),
              options);
}

TEST(OnednnResample, NearestAtMultiplesAndLinearByHalfPixels) {
  for (int64_t c : {3, 16}) {
    for (const char* coordinates : {"asymmetric", "half_pixel"}) {
      ExpectRight(OneNode(
          kResize, {F32({1, c, 5, 7})},
          {{"mode", std::string("nearest")},
           {"sizes", Ints{1, c, 10, 21}},
           {"coordinates", std::string(coordinates)},
           {"nearest",
            std::string(coordinates[0] == 'a' ? "floor"
                                              : "round_prefer_floor")}}));
    }
    ExpectRight(OneNode(
        kResize, {F32({1, c, 5, 7})},
        {{"mode", std::string("linear")}, {"sizes", Ints{1, c, 8, 3}}}));
  }
  ExpectNotOffered(
      OneNode(kResize, {F32({1, 3, 5, 7})},
              {{"mode", std::string("nearest")}, {"sizes", Ints{1, 3, 8, 7}}}));
}

}  // namespace
}  // namespace partita
