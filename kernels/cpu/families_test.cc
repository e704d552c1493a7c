// Pools, softmax, elementwise functions, normalisation and resampling by oneDNN
// against eval.
// SPDX-License-Identifier: Apache-2.0

#include <limits>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/checking/kernel_check.h"
#include "kernels/cpu/onednn_kernels.h"

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

TEST(OnednnPool, MaxAndAverage) {
  for (int64_t channels : {1, 16, 19}) {
    const Attributes window = {{"kernel", Ints{3, 2}},
                               {"strides", Ints{2, 1}},
                               {"pads_before", Ints{1, 0}},
                               {"pads_after", Ints{1, 1}}};
    ExpectRight(OneNode(kMaxPool, {F32({2, channels, 9, 7})}, window));
    ExpectRight(OneNode(kAvgPool, {F32({2, channels, 9, 7})}, window));
    Attributes padded = window;
    padded.Set("count_include_pad", true);
    ExpectRight(OneNode(kAvgPool, {F32({2, channels, 9, 7})}, padded));
  }
  ExpectRight(OneNode(kMaxPool, {F32({1, 5, 17})}, {{"kernel", Ints{3}}}));
  ExpectRight(OneNode(kMaxPool, {F32({1, 16, 9, 9})},
                      {{"kernel", Ints{3, 3}}, {"dilations", Ints{2, 2}}}));
}

TEST(OnednnPool, ExtraEndPaddingIsNeverCounted) {
  Attributes window = {{"kernel", Ints{3, 3}},
                       {"strides", Ints{2, 2}},
                       {"ceil_extra", Ints{1, 1}}};
  ExpectRight(OneNode(kAvgPool, {F32({1, 16, 8, 8})}, window));
  window.Set("count_include_pad", true);
  ExpectNotOffered(OneNode(kAvgPool, {F32({1, 16, 8, 8})}, window));
}

TEST(OnednnPool, MeansAndMaximaOfImages) {
  for (int64_t channels : {3, 16, 32}) {
    for (bool keep : {false, true}) {
      for (const OpDef* op : {&kReduceMean, &kReduceMax}) {
        const auto kernels =
            ExpectRight(OneNode(*op, {F32({2, channels, 7, 5})},
                                {{"axes", Ints{2, 3}}, {"keep_dims", keep}}));
        EXPECT_EQ(kernels.size(), channels % 16 == 0 ? 6 : 4);
      }
    }
  }
}

TEST(OnednnSoftmax, EveryAxis) {
  KernelCheckOptions options;
  options.tolerance = 5e-6;
  for (const OpDef* op : {&kSoftmax, &kLogSoftmax}) {
    for (int64_t axis : {-1, 0, 1, 2}) {
      ExpectRight(OneNode(*op, {F32({3, 17, 5})}, {{"axis", axis}}), options);
    }
    ExpectRight(OneNode(*op, {F32({1})}), options);
  }
}

TEST(OnednnEltwise, FunctionsInEveryLayoutWithoutPadding) {
  KernelCheckOptions options;
  options.tolerance = 1e-5;
  for (const OpDef* op :
       {&kRelu, &kTanh, &kSigmoid, &kAbs, &kExp, &kSilu, &kMish, &kHardSwish,
        &kSoftplus, &kNeg, &kGelu, &kElu, &kLeakyRelu}) {
    ExpectRight(OneNode(*op, {F32({2, 16, 3, 5})}), options);
    // In blocks too if padding stays zero: each with 1 and 2 threads.
    const auto odd = ExpectRight(OneNode(*op, {F32({2, 19, 3, 5})}), options);
    EXPECT_EQ(odd.size(), op->scalar->keeps_zero ? 6 : 4) << op->name;
    ExpectRight(OneNode(*op, {F32(kScalar)}), options);
  }
  options.low = 0.01;
  ExpectRight(OneNode(kSqrt, {F32({37})}), options);
  ExpectRight(OneNode(kLog, {F32({37})}), options);
  ExpectRight(OneNode(kClip, {F32({37})}, {{"min", -1.0}, {"max", 0.5}}));
  ExpectRight(OneNode(kReciprocal, {F32({37})}), options);
  ExpectRight(OneNode(kRound, {F32({37})}));
}

TEST(OnednnEltwise, BoundsOfAClipMayBeMissing) {
  const float inf = std::numeric_limits<float>::infinity();
  const HostTensor x =
      HostTensor::Of<float>({9}, {-inf, -3e38f, -2, -1, 0, 1, 2, 3e38f, inf});
  KernelCheckOptions options;
  options.operands = {&x};
  ExpectRight(OneNode(kClip, {x.type()}, {{"min", -1.0}}), options);
  ExpectRight(OneNode(kClip, {x.type()}, {{"max", 1.0}}), options);
  ExpectRight(OneNode(kClip, {x.type()}), options);
}

TEST(OnednnBinary, EqualShapesAndBroadcasts) {
  for (const OpDef* op : {&kAdd, &kSub, &kMul, &kDiv, &kMax, &kMin}) {
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
  // Row-major, channels last and blocks, each with 1 and 2 threads.
  EXPECT_EQ(ExpectRight(one).size(), 6);
  for (const KernelChoice& choice :
       OnednnCatalog().Choices(one.node(), TestCpu(1))) {
    EXPECT_EQ(choice.arithmetic.find(" ref"), std::string::npos);
  }
}

TEST(OnednnBinary, AnActivationBehind) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const ValueId x = body->AddInput("x", F32({2, 19, 3, 5}));
  const ValueId y = body->AddInput("y", F32({2, 19, 3, 5}));
  const ValueId z = *body->AddValue({.op = &kAdd, .operands = {x, y}});
  body->SetOutputs({*body->AddValue({.op = &kRelu, .operands = {z}})});
  ExpectRight(OneNode(std::move(pool), std::move(body)));
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
