// Ops of backward passes and random numbers, against hand-computed values and
// the published test vectors of Philox; and the errors of these ops.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cmath>

#include "graph/ops/op_list.h"
#include "graph/ops/philox.h"
#include "graph/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }
TensorType I64(Shape dims) { return {DType::kI64, std::move(dims), {}}; }
const TensorType kWord = {DType::kU64, {}, {}};

// Tap k of a filter sums x[2 o + k] dy[o].
TEST(EvalGradientTest, ConvolutionFilters) {
  EXPECT_EQ(Show(kConvWeightGradient,
                 List(F({1, 1, 5}, {1, 2, 3, 4, 5}), F({1, 1, 2}, {1, 10})),
                 {{"kernel", Ints{3}}, {"strides", Ints{2}}}),
            "f32[1, 1, 3] 31 42 53");
  EXPECT_EQ(Show(kConvWeightGradient,
                 List(F({1, 2, 2}, {1, 2, 3, 4}), F({1, 2, 2}, {1, 1, 10, 0})),
                 {{"kernel", Ints{1}}, {"groups", 2}}),
            "f32[2, 1, 1] 3 30");
}

TEST(EvalGradientTest, MaxPoolsPassToTheFirstGreatest) {
  EXPECT_EQ(Show(kMaxPoolGradient,
                 List(F({1, 1, 4}, {1, 3, 3, 2}), F({1, 1, 3}, {1, 10, 100})),
                 {{"kernel", Ints{2}}}),
            "f32[1, 1, 4] 0 11 100 0");
  EXPECT_EQ(
      Show(kMaxPoolGradient, List(F({1, 1, 3}, {1, NAN, 9}), F({1, 1, 1}, {5})),
           {{"kernel", Ints{3}}}),
      "f32[1, 1, 3] 0 5 0");
}

TEST(EvalGradientTest, AveragePoolsPassEqualParts) {
  EXPECT_EQ(
      Show(kAvgPoolGradient, List(F({1, 1, 3}, {2, 4, 6})),
           {{"kernel", Ints{2}}, {"sizes", Ints{3}}, {"pads_before", Ints{1}}}),
      "f32[1, 1, 3] 4 5 3");
}

// The second query has weights 1/4 and 3/4, and so the result 7. Its scores'
// gradients are 1/4 (4 - 7) and 3/4 (8 - 7).
TEST(EvalGradientTest, AttentionOfTwoPositions) {
  const float log3 = std::log(3.0f);
  const auto slopes =
      RunOp(kAttentionGradient,
            List(F({1, 1, 2, 1}, {5, 1}), F({1, 1, 2, 1}, {0, log3}),
                 F({1, 1, 2, 1}, {4, 8}), F({1, 1, 2, 1}, {1, 1})),
            {{"scale", 1.0}, {"causal", true}});
  ASSERT_TRUE(slopes.ok()) << slopes.status();
  EXPECT_EQ(Show((*slopes)[0]), "f32[1, 1, 2, 1] 0 0.823959");
  EXPECT_EQ(Show((*slopes)[1]), "f32[1, 1, 2, 1] -0.75 0.75");
  EXPECT_EQ(Show((*slopes)[2]), "f32[1, 1, 2, 1] 1.25 0.75");
}

// Lines of two are normalised to -1 and 1, with a rate of 1 over half their
// difference. The gradient by x is 0, and that of the scale sums x_hat dy.
TEST(EvalGradientTest, LayerNormsOfTwo) {
  const Attributes exact = {{"epsilon", 0.0}};
  EXPECT_EQ(
      Show(kLayerNormGradient,
           List(F({1, 2}, {1, 5}), F({2}, {3, 4}), F({1, 2}, {10, 1})), exact),
      "f32[1, 2] 0 0");
  EXPECT_EQ(Show(kLayerNormGradient,
                 List(F({1, 4}, {0, 4, 0, 4}), F({4}, {1, 1, 1, 2}),
                      F({1, 4}, {1, 3, 5, 0})),
                 exact),
            "f32[1, 4] -1 0.75 1 -0.75");
  EXPECT_EQ(
      Show(kLayerNormScaleGradient,
           List(F({2, 2}, {1, 5, 8, 2}), F({2, 2}, {10, 1, 7, 2})), exact),
      "f32[2] -3 -1");
}

TEST(EvalGradientTest, SlicesAreAddedUpByIndex) {
  EXPECT_EQ(Show(kGatherGradient,
                 List(F({3, 2}, {1, 2, 10, 20, 100, 200}), I({3}, {0, -1, 0})),
                 {{"extent", 3}}),
            "f32[3, 2] 101 202 0 0 10 20");
  EXPECT_EQ(
      Show(kGatherGradient, List(F({1}, {1}), I({1}, {2})), {{"extent", 2}}),
      "while evaluating gather_gradient %2: found index 2; expected -2..1; "
      "correct the indices");
}

// Positions 0 and 3 read the ends, the others blend in a quarter of the
// neighbour.
TEST(EvalGradientTest, ResizedPositionsPassByWeight) {
  EXPECT_EQ(Show(kResizeGradient, List(F({4}, {1, 1, 1, 1})),
                 {{"sizes", Ints{2}}, {"mode", "linear"}}),
            "f32[2] 2 2");
  EXPECT_EQ(Show(kResizeGradient, List(F({4}, {4, 8, 0, 0})),
                 {{"sizes", Ints{2}}, {"mode", "linear"}}),
            "f32[2] 10 2");
  EXPECT_EQ(
      Show(kResizeGradient, List(F({4}, {1, 2, 3, 4})), {{"sizes", Ints{2}}}),
      "f32[2] 3 7");
}

// kat_vectors of Random123, philox4x32 with 10 rounds.
TEST(PhiloxTest, MatchesThePublishedVectors) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                   {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

HostTensor Word(uint64_t value) {
  HostTensor word({DType::kU64, {}, {}});
  word.data<uint64_t>()[0] = value;
  return word;
}

// The words of the counter {0, 0, 0, 0} and then {1, 0, 0, 0}, by their upper
// 24 bits.
TEST(EvalGradientTest, UniformNumbersAreWordsOfPhilox) {
  const auto y = RunOp(kRandomUniform, List(Word(0), Word(0)),
                       {{"shape", Ints{5}}, {"id", 0}});
  ASSERT_TRUE(y.ok()) << y.status();
  const auto first = Philox({0, 0, 0, 0}, {0, 0});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(GetAsDouble((*y)[0], i), std::ldexp(first[i] >> 8, -24));
  }
  EXPECT_EQ(GetAsDouble((*y)[0], 4),
            std::ldexp(Philox({1, 0, 0, 0}, {0, 0})[0] >> 8, -24));
}

TEST(EvalGradientTest, SeedStepAndIdAreWordsOfCounterAndKey) {
  const auto y = RunOp(kRandomUniform, List(Word(0x500000006), Word(7)),
                       {{"shape", Ints{1}}, {"id", 8}});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(GetAsDouble((*y)[0], 0),
            std::ldexp(Philox({0, 0, 7, 8}, {6, 5})[0] >> 8, -24));
}

TEST(EvalGradientTest, OperandsThatDoNotFitAreRefused) {
  EXPECT_EQ(InferMessage(kConvWeightGradient, {F32({1, 3, 8}), F32({1, 2, 6})},
                         {{"kernel", Ints{3}}, {"groups", 2}}),
            "conv_weight_gradient of %x0: found groups 2; expected a divisor "
            "of 3 channels and 2 filters; correct groups");
  EXPECT_EQ(InferMessage(kConvWeightGradient, {F32({1, 3, 8}), F32({1, 2, 7})},
                         {{"kernel", Ints{3}}}),
            "conv_weight_gradient of %x0: found operand 1 %x1: f32[1, 2, 7]; "
            "expected the extent 1 in dimension 0 and no more positions than "
            "the window has on operand 0 %x0: f32[1, 3, 8]; correct the "
            "window's attributes");
  EXPECT_EQ(InferMessage(kMaxPoolGradient, {F32({1, 3, 8}), F32({1, 3, 8})},
                         {{"kernel", Ints{3}}}),
            "max_pool_gradient of %x0: found operand 1 %x1: f32[1, 3, 8]; "
            "expected extents [1, 3, 6]; reshape or expand the operand");
  EXPECT_EQ(
      InferMessage(kGatherGradient, {F32({4, 3}), I64({3})}, {{"extent", 5}}),
      "gather_gradient of %x0: found operand 0 %x0: f32[4, 3]; expected "
      "the extents of operand 1 %x1: i64[3] from dimension 0 on; "
      "correct axis or the indices");
  EXPECT_EQ(InferMessage(kResizeGradient, {F32({4})}, {{"sizes", Ints{0}}}),
            "resize_gradient of %x0: found size 0 in dimension 0; expected "
            "elements that the resize could read; correct sizes");
  EXPECT_EQ(InferMessage(kRandomUniform, {kWord, kWord},
                         {{"shape", Ints{2}}, {"id", -1}}),
            "random_uniform of %x0: found id -1; expected 0..4294967295; "
            "number the random ops of a module from 0");
  EXPECT_EQ(InferMessage(kRandomUniform, {kWord, kWord},
                         {{"shape", Ints{2}},
                          {"id", 0},
                          {"whole", Ints{3}},
                          {"origin", Ints{2}}}),
            "random_uniform of %x0: found a shard f32[2]; expected a shard "
            "inside the whole tensor; correct whole and origin, or leave "
            "both out");
  EXPECT_EQ(
      InferMessage(kRandomUniform, {kWord, kWord},
                   {{"shape", Ints{2}}, {"id", 0}, {"advance", Ints{-1}}}),
      "random_uniform of %x0: found advance = [-1]; expected an extent for "
      "each of 1 dimensions; correct advance, or leave it out");
}

TEST(EvalGradientTest, ASumOverMicroBatchesAddsToTheSumSoFar) {
  const auto sum = RunOp(kAccumulate, List(F({2}, {1, 2}), F({2}, {0.5, 4})),
                         {{"micro_batches", 2}});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(GetAsDouble((*sum)[0], 0), 1.5);
  EXPECT_EQ(GetAsDouble((*sum)[0], 1), 6);
  const TensorType bools = {DType::kBool, {2}, {}};
  EXPECT_EQ(InferMessage(kAccumulate, {bools}, {{"micro_batches", 2}}),
            "accumulate of %x0: found bool[2]; expected numbers; cast it "
            "before it is summed");
  EXPECT_EQ(InferMessage(kAccumulate, {F32({2})}, {{"micro_batches", 1}}),
            "accumulate of %x0: found micro_batches = 1; expected 2 or more; "
            "leave the node out: one is its own sum");
  EXPECT_EQ(
      InferMessage(kAccumulate, {F32({2}), F32({1})}, {{"micro_batches", 2}}),
      "accumulate of %x0: found a sum f32[1]; expected f32[2]; give the sum "
      "the type of what is added");
}

// Attributes that would crash an op without checks.
TEST(EvalGradientTest, HugeAttributesAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const auto refused = [](const OpDef& op, const std::vector<TensorType>& types,
                          const Attributes& attributes) {
    const std::string message = InferMessage(op, types, attributes);
    EXPECT_NE(message.find("expected"), std::string::npos) << message;
  };
  const TensorType x = F32({1, 1, 8});
  refused(kConvWeightGradient, {x, x}, {{"kernel", Ints{kHuge}}});
  refused(kConvWeightGradient, {x, x},
          {{"kernel", Ints{1}}, {"pads_before", Ints{kHuge}}});
  refused(kMaxPoolGradient, {x, x}, {{"kernel", Ints{-1}}});
  refused(kAvgPoolGradient, {x}, {{"kernel", Ints{1}}, {"sizes", Ints{kHuge}}});
  refused(kGatherGradient, {F32({8}), I64({8})}, {{"extent", kHuge}});
  refused(kResizeGradient, {F32({8})}, {{"sizes", Ints{kHuge}}});
  refused(kRandomUniform, {kWord, kWord},
          {{"shape", Ints{kHuge, 8}}, {"id", 0}});
  refused(kRandomUniform, {kWord, kWord},
          {{"shape", Ints{8}},
           {"id", 0},
           {"whole", Ints{kHuge}},
           {"origin", Ints{kHuge}}});
}

}  // namespace
}  // namespace partita
