// Linear ops, reductions, pools and norms, against hand-computed values.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "graph/ops/op_list.h"
#include "graph/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(EvalNumericTest, MatmulFollowsNumpy) {
  EXPECT_EQ(Show(kMatmul, List(Counting({2, 2}), Counting({2, 3}))),
            "f32[2, 3] 3 4 5 9 14 19");
  EXPECT_EQ(Show(kMatmul, List(Counting({2, 2}), Counting({3, 2})),
                 {{"transpose_b", true}}),
            "f32[2, 3] 1 3 5 3 13 23");
  EXPECT_EQ(Show(kMatmul, List(Counting({2, 2}), Counting({2, 2})),
                 {{"transpose_a", true}}),
            "f32[2, 2] 4 6 6 10");
  EXPECT_EQ(Show(kMatmul, List(Counting({3}), Counting({3}))), "f32[] 5");
  EXPECT_EQ(Show(kMatmul, List(Counting({2}), Counting({2, 2}))), "f32[2] 2 3");
  EXPECT_EQ(Show(kMatmul, List(Counting({2, 1, 2}), Counting({2}))),
            "f32[2, 1] 1 3");
  EXPECT_EQ(Show(kMatmul, List(HostTensor::Of<int8_t>({1, 1}, {100}),
                               HostTensor::Of<int8_t>({1, 1}, {3}))),
            "i8[1, 1] 44");
  EXPECT_EQ(Show(kMatmul, List(F({2, 0}, {}), F({0, 1}, {}))), "f32[2, 1] 0 0");
}

// In f32 the sum of two large opposites would lose the small number.
TEST(EvalNumericTest, FloatsAreSummedInDouble) {
  EXPECT_EQ(
      Show(kMatmul, List(F({1, 3}, {1e8, 1, -1e8}), F({3, 1}, {1, 0.5, 1}))),
      "f32[1, 1] 0.5");
}

TEST(EvalNumericTest, Convolution) {
  EXPECT_EQ(Show(kConv, List(Counting({1, 1, 3, 3}),
                             F({1, 1, 2, 2}, {1, 0, 0, 1}), F({1}, {10}))),
            "f32[1, 1, 2, 2] 14 16 20 22");
  EXPECT_EQ(Show(kConv, List(Counting({1, 1, 4}), F({1, 1, 3}, {1, 1, 1})),
                 {{"strides", Ints{2}},
                  {"pads_before", Ints{1}},
                  {"pads_after", Ints{1}}}),
            "f32[1, 1, 2] 1 6");
  EXPECT_EQ(Show(kConv, List(Counting({1, 1, 5}), F({1, 1, 2}, {1, 10})),
                 {{"dilations", Ints{3}}}),
            "f32[1, 1, 2] 30 41");
  EXPECT_EQ(Show(kConv, List(Counting({1, 2, 2}), F({2, 1, 1}, {2, 3})),
                 {{"groups", 2}}),
            "f32[1, 2, 2] 0 2 6 9");
}

// numpy.cumprod
TEST(EvalNumericTest, RunningProducts) {
  EXPECT_EQ(Show(kCumprod, List(F({4}, {2, 3, 4, 5})), {{"axis", 0}}),
            "f32[4] 2 6 24 120");
  EXPECT_EQ(Show(kCumprod, List(I({2, 2}, {2, 3, 4, 5})),
                 {{"axis", 1}, {"exclusive", true}, {"reverse", true}}),
            "i64[2, 2] 3 1 5 1");
}

// numpy.linalg.det
TEST(EvalNumericTest, Determinants) {
  EXPECT_EQ(Show(kDet, List(F({2, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4}))),
            "f32[2] -6 0");
  EXPECT_EQ(Show(kDet, List(F({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4}))),
            "f32[] 18");
  EXPECT_EQ(Show(kDet, List(F({0, 0}, {}))), "f32[] 1");
}

// torch.nn.functional.max_pool2d(return_indices=True)
TEST(EvalNumericTest, PositionsOfGreatestElements) {
  EXPECT_EQ(Show(kMaxPoolIndices,
                 List(F({1, 1, 2, 4}, {1, 5, 5, 2,  //
                                       7, 5, 5, 9})),
                 {{"kernel", Ints{2, 2}}, {"strides", Ints{1, 2}}}),
            "i64[1, 1, 1, 2] 4 7");
  EXPECT_EQ(Show(kMaxPoolIndices, List(F({1, 1, 3}, {4, 4, 1})),
                 {{"kernel", Ints{2}}, {"pads_before", Ints{1}}}),
            "i64[1, 1, 3] 0 0 1");
}

// torch.nn.functional.grid_sample
TEST(EvalNumericTest, SamplesOfAGrid) {
  const auto x = [] { return F({1, 1, 2, 2}, {1, 2, 3, 4}); };
  const auto grid = [] { return F({1, 1, 3, 2}, {0, 0, -1, -1, 2, 0.5f}); };
  EXPECT_EQ(Show(kGridSample, List(x(), grid())), "f32[1, 1, 1, 3] 2.5 0.25 0");
  EXPECT_EQ(Show(kGridSample, List(x(), grid()),
                 {{"padding", "border"}, {"align_corners", true}}),
            "f32[1, 1, 1, 3] 2.5 1 3.5");
}

TEST(EvalNumericTest, TransposedConvolution) {
  EXPECT_EQ(Show(kConvTranspose,
                 List(F({1, 1, 2}, {1, 2}), F({1, 1, 3}, {1, 10, 100})),
                 {{"strides", Ints{2}}}),
            "f32[1, 1, 5] 1 10 102 20 200");
  EXPECT_EQ(Show(kConvTranspose,
                 List(F({1, 1, 2}, {1, 2}), F({1, 1, 3}, {1, 10, 100})),
                 {{"strides", Ints{2}},
                  {"pads_before", Ints{1}},
                  {"pads_after", Ints{1}},
                  {"output_padding", Ints{1}}}),
            "f32[1, 1, 4] 10 102 20 200");
}

TEST(EvalNumericTest, Pools) {
  EXPECT_EQ(Show(kMaxPool, List(F({1, 1, 4}, {-3, -1, -4, -2})),
                 {{"kernel", Ints{2}}, {"pads_before", Ints{1}}}),
            "f32[1, 1, 4] -3 -1 -1 -2");
  EXPECT_EQ(Show(kAvgPool, List(F({1, 1, 3}, {2, 4, 6})),
                 {{"kernel", Ints{2}}, {"pads_before", Ints{1}}}),
            "f32[1, 1, 3] 2 3 5");
  EXPECT_EQ(Show(kAvgPool, List(F({1, 1, 3}, {2, 4, 6})),
                 {{"kernel", Ints{2}},
                  {"pads_before", Ints{1}},
                  {"count_include_pad", true}}),
            "f32[1, 1, 3] 1 3 5");
  EXPECT_EQ(Show(kAvgPool, List(F({1, 1, 3}, {2, 4, 6})),
                 {{"kernel", Ints{2}},
                  {"strides", Ints{2}},
                  {"ceil_extra", Ints{1}},
                  {"count_include_pad", true}}),
            "f32[1, 1, 2] 3 6");
  EXPECT_EQ(
      Show(
          kMaxPool, List(F({1, 1, 3}, {2, 4, -6})),
          {{"kernel", Ints{2}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}),
      "f32[1, 1, 2] 4 -6");
}

TEST(EvalNumericTest, Reductions) {
  const auto reduce = [](const OpDef& op) {
    return Show(op, List(F({2, 2}, {1, -2, 3, 4})), {{"axes", Ints{1}}});
  };
  EXPECT_EQ(reduce(kReduceSum), "f32[2, 1] -1 7");
  EXPECT_EQ(reduce(kReduceMean), "f32[2, 1] -0.5 3.5");
  EXPECT_EQ(reduce(kReduceMax), "f32[2, 1] 1 4");
  EXPECT_EQ(reduce(kReduceMin), "f32[2, 1] -2 3");
  EXPECT_EQ(reduce(kReduceProd), "f32[2, 1] -2 12");
  EXPECT_EQ(reduce(kReduceL1), "f32[2, 1] 3 7");
  EXPECT_EQ(reduce(kReduceL2), "f32[2, 1] 2.23607 5");
  EXPECT_EQ(reduce(kReduceSumSquare), "f32[2, 1] 5 25");
  EXPECT_EQ(reduce(kReduceLogSum), "f32[2, 1] nan 1.94591");
  EXPECT_EQ(reduce(kReduceLogSumExp), "f32[2, 1] 1.04859 4.31326");
  EXPECT_EQ(Show(kReduceSum, List(Counting({2, 3, 2})),
                 {{"axes", Ints{0, -1}}, {"keep_dims", false}}),
            "f32[3] 14 22 30");
  EXPECT_EQ(Show(kReduceSumSquare, List(F({2}, {2, 3})), {{"axes", Ints{}}}),
            "f32[2] 4 9");
}

// In f64: the square of the first has more digits than f32.
TEST(EvalNumericTest, MomentsAreSumsOfXAndOfItsSquares) {
  const auto moments =
      RunOp(kMoments, List(F({2, 2}, {4097, 0, 3, -4})), {{"axes", Ints{-1}}});
  ASSERT_TRUE(moments.ok()) << moments.status();
  EXPECT_EQ(Show((*moments)[0]), "f64[2, 1] 4097 -1");
  EXPECT_EQ(GetAsDouble((*moments)[1], 0), 4097.0 * 4097);
  EXPECT_EQ(GetAsDouble((*moments)[1], 1), 25);
  const auto crossed =
      RunOp(kCrossMoments,
            List(F({2, 2}, {4097, 0, 3, -4}), F({2, 2}, {4097, 7, 2, 1})),
            {{"axes", Ints{-1}}});
  ASSERT_TRUE(crossed.ok()) << crossed.status();
  EXPECT_EQ(Show((*crossed)[0]), "f64[2, 1] 4097 -1");
  EXPECT_EQ(GetAsDouble((*crossed)[1], 0), 4097.0 * 4097);
  EXPECT_EQ(GetAsDouble((*crossed)[1], 1), 2);
}

// Each 1 is half of the last digit of 2^54: a plain sum loses all of them.
TEST(EvalNumericTest, MomentsKeepWhatASumLoses) {
  const auto squares = [](const std::vector<float>& x) {
    const auto moments = RunOp(kMoments, List(F({5}, x)), {{"axes", Ints{0}}});
    return GetAsDouble((*moments)[1], 0);
  };
  constexpr float kLarge = 1 << 27;
  EXPECT_EQ(squares({kLarge, 1, 1, 1, 1}), std::ldexp(1, 54) + 4);
  EXPECT_EQ(squares({1, 1, kLarge, 1, 1}), std::ldexp(1, 54) + 4);
}

TEST(EvalNumericTest, MomentsOfInfinities) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto moments = RunOp(kMoments, List(F({2, 2}, {kInf, 1, kInf, -kInf})),
                             {{"axes", Ints{1}}});
  ASSERT_TRUE(moments.ok()) << moments.status();
  EXPECT_EQ(Show((*moments)[0]), "f64[2, 1] inf nan");
  EXPECT_EQ(Show((*moments)[1]), "f64[2, 1] inf inf");
}

TEST(EvalNumericTest, ReductionsOfNoElements) {
  const auto reduce = [](const OpDef& op) {
    return Show(op, List(F({1, 0}, {})), {{"axes", Ints{1}}});
  };
  EXPECT_EQ(reduce(kReduceSum), "f32[1, 1] 0");
  EXPECT_EQ(reduce(kReduceProd), "f32[1, 1] 1");
  EXPECT_EQ(reduce(kReduceMax), "f32[1, 1] -inf");
  EXPECT_EQ(reduce(kReduceMin), "f32[1, 1] inf");
  EXPECT_EQ(reduce(kReduceLogSumExp), "f32[1, 1] -inf");
  EXPECT_EQ(Show(kReduceMax, List(HostTensor::Of<int8_t>({0}, {})),
                 {{"axes", Ints{0}}}),
            "i8[1] -128");
}

TEST(EvalNumericTest, IntegerReductionsWrapAndTruncate) {
  EXPECT_EQ(Show(kReduceSum, List(HostTensor::Of<int8_t>({2}, {100, 100})),
                 {{"axes", Ints{0}}}),
            "i8[1] -56");
  EXPECT_EQ(Show(kReduceMean, List(HostTensor::Of<int32_t>({2}, {-3, -4})),
                 {{"axes", Ints{0}}}),
            "i32[1] -3");
  EXPECT_EQ(Show(kReduceL1, List(HostTensor::Of<int8_t>({2}, {-100, 20})),
                 {{"axes", Ints{0}}}),
            "i8[1] 120");
}

TEST(EvalNumericTest, ArgMaxAndArgMin) {
  const HostTensor x = F({5}, {1, 3, 0, 3, 0});
  EXPECT_EQ(Show(kArgMax, List(x.Clone())), "i64[1] 1");
  EXPECT_EQ(Show(kArgMax, List(x.Clone()), {{"last_index", true}}), "i64[1] 3");
  EXPECT_EQ(Show(kArgMin, List(x.Clone()), {{"keep_dims", false}}), "i64[] 2");
  EXPECT_EQ(Show(kArgMin, List(F({3}, {1, std::nanf(""), 0}))), "i64[1] 1");
}

TEST(EvalNumericTest, Cumsum) {
  const auto sums = [](bool exclusive, bool reverse) {
    return Show(kCumsum, List(F({4}, {1, 2, 3, 4})),
                {{"axis", 0}, {"exclusive", exclusive}, {"reverse", reverse}});
  };
  EXPECT_EQ(sums(false, false), "f32[4] 1 3 6 10");
  EXPECT_EQ(sums(true, false), "f32[4] 0 1 3 6");
  EXPECT_EQ(sums(false, true), "f32[4] 10 9 7 4");
  EXPECT_EQ(sums(true, true), "f32[4] 9 7 4 0");
}

TEST(EvalNumericTest, SoftmaxFamily) {
  const float half = std::log(0.5f);
  EXPECT_EQ(Show(kSoftmax, List(F({2, 2}, {0, 0, 1000, 1000}))),
            "f32[2, 2] 0.5 0.5 0.5 0.5");
  EXPECT_EQ(Show(kLogSoftmax, List(F({2}, {7, 7}))),
            Show(F({2}, {half, half})));
  EXPECT_EQ(Show(kHardmax, List(F({2, 2}, {1, 2, 2, 1})), {{"axis", 0}}),
            "f32[2, 2] 0 1 1 0");
}

// One head. The second query's scaled scores are 0 and log(3), so its weights
// are 1/4 and 3/4.
TEST(EvalNumericTest, Attention) {
  const float log3 = std::log(3.0f);
  const auto operands = [&] {
    return List(F({1, 1, 2, 4}, {0, 0, 0, 0, 2, 0, 0, 0}),
                F({1, 1, 2, 4}, {0, 0, 0, 0, log3, 0, 9, 0}),
                F({1, 1, 2, 4}, {4, 4, 4, 0, 8, 0, 4, 0}));
  };
  EXPECT_EQ(Show(kAttention, operands(), {{"scale", 0.5}, {"causal", true}}),
            "f32[1, 1, 2, 4] 4 4 4 0 7 1 4 0");
  EXPECT_EQ(Show(kAttention, operands(), {{"scale", 0.5}}),
            "f32[1, 1, 2, 4] 6 2 4 0 7 1 4 0");
}

// Two query heads for one key head, and a past of one key: the first query sees
// two of three keys.
TEST(EvalNumericTest, AttentionOfGroupsWithAPast) {
  EXPECT_EQ(Show(kAttention,
                 List(F({1, 2, 2, 1}, {0, 0, 0, 0}), F({1, 1, 3, 1}, {1, 2, 3}),
                      F({1, 1, 3, 1}, {2, 4, 9})),
                 {{"scale", 1.0}, {"causal", true}, {"past", int64_t{1}}}),
            "f32[1, 2, 2, 1] 3 5 3 5");
}

// For products of 0 the mask alone decides. A softcap of 2 turns 4 log(3) / 2
// into 2 tanh(log(3)), and the mask makes that log(3).
TEST(EvalNumericTest, AttentionWithAMaskAndASoftcap) {
  const float log3 = std::log(3.0f);
  const float hidden = -std::numeric_limits<float>::infinity();
  const auto mean = [](float key, float m0, float m1, Attributes attributes) {
    return Show(kAttention,
                List(F({1, 1, 1, 1}, {1}), F({1, 1, 2, 1}, {0, key}),
                     F({1, 1, 2, 1}, {4, 8}), F({2}, {m0, m1})),
                std::move(attributes));
  };
  EXPECT_EQ(mean(0, 0, log3, {{"scale", 1.0}}), "f32[1, 1, 1, 1] 7");
  EXPECT_EQ(mean(5, 0, hidden, {{"scale", 1.0}}), "f32[1, 1, 1, 1] 4");
  EXPECT_EQ(mean(5, hidden, hidden, {{"scale", 1.0}}), "f32[1, 1, 1, 1] nan");
  EXPECT_EQ(mean(5, hidden, hidden, {{"scale", 1.0}, {"zero_blind", true}}),
            "f32[1, 1, 1, 1] 0");
  // tanh(log 3) is 0.8.
  EXPECT_EQ(mean(4 * log3, 0, log3 - 1.6f, {{"scale", 0.5}, {"softcap", 2.0}}),
            "f32[1, 1, 1, 1] 7");
}

TEST(EvalNumericTest, Norms) {
  EXPECT_EQ(Show(kBatchNorm,
                 List(F({1, 2, 1}, {5, 6}), F({2}, {2, 1}), F({2}, {1, 0}),
                      F({2}, {3, 4}), F({2}, {4, 1})),
                 {{"epsilon", 0.0}}),
            "f32[1, 2, 1] 3 2");
  EXPECT_EQ(
      Show(kInstanceNorm, List(F({1, 1, 2}, {1, 3}), F({1}, {2}), F({1}, {5})),
           {{"epsilon", 0.0}}),
      "f32[1, 1, 2] 3 7");
  EXPECT_EQ(Show(kGroupNorm,
                 List(F({1, 2, 1}, {1, 3}), F({2}, {2, 4}), F({2}, {5, 6})),
                 {{"groups", 1}, {"epsilon", 0.0}}),
            "f32[1, 2, 1] 3 10");
  EXPECT_EQ(Show(kLayerNorm, List(F({1, 2}, {1, 3}), F({2}, {2, 4})),
                 {{"epsilon", 0.0}}),
            "f32[1, 2] -2 4");
  EXPECT_EQ(Show(kLrn, List(F({1, 3}, {1, 2, 3})),
                 {{"size", 2}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}}),
            "f32[1, 3] 0.166667 0.142857 0.3");
  EXPECT_EQ(Show(kLpNorm, List(F({2, 2}, {3, 4, 0, 0}))),
            "f32[2, 2] 0.6 0.8 0 0");
  EXPECT_EQ(Show(kLpNorm, List(F({2}, {-1, 3})), {{"p", 1}}),
            "f32[2] -0.25 0.75");
}

std::string Resized(const char* mode, const char* coordinates, int64_t size,
                    const Attributes& more = {}) {
  Attributes attributes = more;
  attributes.Set("mode", std::string(mode));
  attributes.Set("coordinates", std::string(coordinates));
  attributes.Set("sizes", Ints{size});
  return Show(kResize, List(F({4}, {0, 10, 20, 30})), attributes);
}

TEST(EvalNumericTest, ResizeCoordinates) {
  EXPECT_EQ(Resized("linear", "half_pixel", 8),
            "f32[8] 0 2.5 7.5 12.5 17.5 22.5 27.5 30");
  EXPECT_EQ(Resized("linear", "align_corners", 7), "f32[7] 0 5 10 15 20 25 30");
  EXPECT_EQ(Resized("linear", "asymmetric", 2), "f32[2] 0 20");
  EXPECT_EQ(Resized("linear", "half_pixel", 1), "f32[1] 15");
  EXPECT_EQ(Resized("linear", "pytorch_half_pixel", 1), "f32[1] 0");
  EXPECT_EQ(Resized("nearest", "half_pixel", 8),
            "f32[8] 0 0 10 10 20 20 30 30");
  EXPECT_EQ(Resized("nearest", "half_pixel", 2), "f32[2] 0 20");
  EXPECT_EQ(
      Resized("nearest", "half_pixel", 2, {{"nearest", "round_prefer_ceil"}}),
      "f32[2] 10 30");
  EXPECT_EQ(Resized("nearest", "asymmetric", 3, {{"nearest", "ceil"}}),
            "f32[3] 0 20 30");
  EXPECT_EQ(Resized("nearest", "asymmetric", 3,
                    {{"nearest", "floor"}, {"scales", Floats{0.8}}}),
            "f32[3] 0 10 20");
}

TEST(EvalNumericTest, ResizeWithExtremeScalesStaysInside) {
  EXPECT_EQ(Resized("nearest", "asymmetric", 3, {{"scales", Floats{1e-300}}}),
            "f32[3] 0 30 30");
  EXPECT_EQ(Resized("linear", "asymmetric", 3, {{"scales", Floats{1e-300}}}),
            "f32[3] 0 30 30");
  EXPECT_EQ(Resized("cubic", "align_corners", 2, {{"scales", Floats{0.25}}}),
            "f32[2] 0 30");
}

// At -0.25 the four weights of Keys' kernel with a = -0.75 apply. The two
// positions left of the tensor read its edge, or are excluded.
TEST(EvalNumericTest, ResizeCubic) {
  EXPECT_EQ(Resized("cubic", "half_pixel", 8),
            "f32[8] -1.05469 1.91406 6.67969 12.9688 17.0312 23.3203 28.0859 "
            "31.0547");
  EXPECT_EQ(Resized("cubic", "half_pixel", 8, {{"exclude_outside", true}}),
            "f32[8] -1.36364 1.73145 6.45283 12.9688 17.0312 23.5472 28.2686 "
            "31.3636");
  EXPECT_EQ(Resized("cubic", "asymmetric", 4), "f32[4] 0 10 20 30");
}

// A loop over the other extent would not end.
TEST(EvalNumericTest, ResultsWithoutElementsTakeNoTime) {
  constexpr int64_t kRows = int64_t{1} << 40;
  const std::string empty = "f32[1099511627776, 0]";
  EXPECT_EQ(Show(kRelu, List(F({kRows, 0}, {}))), empty);
  EXPECT_EQ(Show(kSoftmax, List(F({kRows, 0}, {})), {{"axis", 1}}), empty);
  EXPECT_EQ(Show(kMatmul, List(F({kRows, 0}, {}), F({0, 0}, {}))), empty);
  EXPECT_EQ(Show(kTopK, List(F({kRows, 0}, {})), {{"k", 0}, {"axis", 1}}),
            empty);
}

}  // namespace
}  // namespace partita
