// The errors of ops for wrong operands and attributes: one minimal example for
// each message.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_list.h"
#include "graph/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

TensorType F32(Shape dims) { return {DType::kF32, std::move(dims), {}}; }
TensorType I64(Shape dims) { return {DType::kI64, std::move(dims), {}}; }

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(InferErrorsTest, TypesAndBroadcasts) {
  EXPECT_EQ(InferMessage(kExp, {I64({2})}),
            "exp of %x0: found operand 0 %x0: i64[2]; expected a float type; "
            "cast the operand");
  EXPECT_EQ(
      InferMessage(kAdd, {F32({2}), I64({2})}),
      "add of %x0: found operand 1 %x1: i64[2]; expected f32 like operand "
      "0 %x0: f32[2]; cast operand 1 to f32");
  EXPECT_EQ(InferMessage(kAdd, {F32({2, 3}), F32({2})}),
            "add of %x0: found operand 1 %x1: f32[2]; expected extents that "
            "broadcast with [2, 3]; extents must be equal or 1, counted from "
            "the last; reshape or expand");
}

TEST(InferErrorsTest, Axes) {
  EXPECT_EQ(InferMessage(kSoftmax, {F32({32, 10})}, {{"axis", 3}}),
            "softmax of %x0: found axis 3 on f32[32, 10]; expected -2..1; use "
            "axis = -1 for the innermost dimension");
  EXPECT_EQ(InferMessage(kReduceSum, {F32({2, 3})}, {{"axes", Ints{1, -1}}}),
            "reduce_sum of %x0: found axes = [1, -1] on f32[2, 3]; expected "
            "each of -2..1 at most once; list the dimensions to reduce");
  EXPECT_EQ(InferMessage(kMoments, {F32({2, 3})}, {{"axes", Ints{2}}}),
            "moments of %x0: found axes = [2] on f32[2, 3]; expected each of "
            "-2..1 at most once; list the dimensions to reduce");
  EXPECT_EQ(InferMessage(kCrossMoments, {F32({2, 3}), F32({2, 1})},
                         {{"axes", Ints{1}}}),
            "cross_moments of %x0: found operand 1 %x1: f32[2, 1]; expected "
            "extents [2, 3]; reshape or expand the operand");
  EXPECT_EQ(
      InferMessage(kTopK, {F32({2, 3})}, {{"k", 4}}),
      "top_k of %x0: found k 4; expected 0..3, the extent of dimension 1; "
      "correct k or axis");
  EXPECT_EQ(InferMessage(kTranspose, {F32({2, 3})}, {{"perm", Ints{0, 0}}}),
            "transpose of %x0: found perm = [0, 0] for operand 0 %x0: f32[2, "
            "3]; expected each of 0..1 once; list every dimension of the "
            "operand in its new order");
}

TEST(InferErrorsTest, Linear) {
  EXPECT_EQ(
      InferMessage(kMatmul, {F32({2, 3}), F32({4, 5})}),
      "matmul of %x0: found operand 1 %x1: f32[4, 5]; expected 3 in "
      "dimension 0, as dimension 1 of operand 0 %x0: f32[2, 3]; transpose "
      "or reshape an operand");
  EXPECT_EQ(InferMessage(kConv, {F32({1, 3, 8}), F32({4, 2, 3})}),
            "conv of %x0: found operand 1 %x1: f32[4, 2, 3]; expected 3 in "
            "dimension 1: the channels of a group of operand 0 %x0: f32[1, 3, "
            "8]; correct groups or the weights");
  EXPECT_EQ(
      InferMessage(kConv, {F32({1, 3, 8}), F32({4, 3, 9})}),
      "conv of %x0: found a window of 9 over 8 padded elements in spatial "
      "dimension 0; expected a window that fits; lower the kernel or add "
      "pads");
  EXPECT_EQ(
      InferMessage(kConv, {F32({1, 3, 8}), F32({4, 3, 3})}, {{"groups", 0}}),
      "conv of %x0: found groups 0; expected a divisor of 3 channels and "
      "4 filters; correct groups or the weights");
}

TEST(InferErrorsTest, PositionsAndRegions) {
  EXPECT_EQ(InferMessage(kGridSample, {F32({1, 2, 3, 4}), F32({1, 5, 2})}),
            "grid_sample of %x0: found operand 1 %x1: f32[1, 5, 2]; expected "
            "rank 4; reshape the operand");
  EXPECT_EQ(InferMessage(kGridSample, {F32({1, 2, 3}), F32({2, 5, 1})}),
            "grid_sample of %x0: found operand 1 %x1: f32[2, 5, 1]; expected 1 "
            "in dimension 0 and 1 in the last one; give each position of the "
            "result a coordinate per spatial dimension");
  EXPECT_EQ(InferMessage(kGridSample, {F32({1, 2, 0}), F32({1, 5, 1})}),
            "grid_sample of %x0: found operand 0 %x0: f32[1, 2, 0]; expected "
            "elements in dimension 2; an empty dimension cannot be sampled");
  EXPECT_EQ(InferMessage(kGridSample, {F32({1, 2, 3}), F32({1, 5, 1})},
                         {{"padding", "wrap"}}),
            "grid_sample of %x0: found padding \"wrap\"; expected one of: "
            "zeros, border, reflection; name one of them");
  EXPECT_EQ(InferMessage(kRoiAlign, {F32({1, 2, 3, 4}), F32({5, 4}), I64({4})},
                         {{"height", 1}, {"width", 1}}),
            "roi_align of %x0: found operand 2 %x2: i64[4]; expected extents "
            "[5]; reshape or expand the operand");
  EXPECT_EQ(InferMessage(kRoiAlign, {F32({1, 2, 3, 4}), F32({5, 4}), I64({5})},
                         {{"height", 1}, {"width", 0}}),
            "roi_align of %x0: found width 0; expected 1..1073741824; correct "
            "width");
}

TEST(InferErrorsTest, BitsAndMatrices) {
  EXPECT_EQ(InferMessage(kBitCast, {F32({2})}, {{"to", DType::kI64}}),
            "bit_cast of %x0: found operand 0 %x0: f32[2] as i64; expected a "
            "type of 32 bits; name one as wide, or cast");
  EXPECT_EQ(InferMessage(kDet, {F32({2, 3})}),
            "det of %x0: found operand 0 %x0: f32[2, 3]; expected square "
            "matrices in the last dimensions; reshape the operand");
}

TEST(InferErrorsTest, Attention) {
  const auto attention = [](const Shape& q, const Shape& k, const Shape& v,
                            const std::vector<Shape>& mask,
                            Attributes attributes = {}) {
    std::vector<TensorType> types = {F32(q), F32(k), F32(v)};
    for (const Shape& dims : mask) types.push_back(F32(dims));
    attributes.Set("scale", 1.0);
    return InferMessage(kAttention, types, attributes);
  };
  const Shape q = {2, 4, 3, 8}, k = {2, 2, 5, 8};
  EXPECT_EQ(attention(q, {2, 2, 5, 7}, k, {}),
            "attention of %x0: found operand 1 %x1: f32[2, 2, 5, 7]; "
            "expected f32[2, 2, 5, 8], as the queries have; reshape or "
            "transpose the operands to [n, heads, positions, size]");
  EXPECT_EQ(attention(q, k, {2, 2, 4, 8}, {}),
            "attention of %x0: found operand 2 %x2: f32[2, 2, 4, 8]; "
            "expected f32[2, 2, 5, 8], as the keys have; reshape or transpose "
            "the operands to [n, heads, positions, size]");
  EXPECT_EQ(attention({2, 3, 3, 8}, k, k, {}),
            "attention of %x0: found 2 heads of keys; expected a "
            "number that divides the 3 heads of queries; repeat or leave out "
            "heads");
  EXPECT_EQ(attention(q, k, k, {{2, 2, 3, 5}}),
            "attention of %x0: found operand 3 %x3: f32[2, 2, "
            "3, 5]; expected extents that broadcast to f32[2, 4, 3, 5]: [n, "
            "heads, queries, keys]; expand or reshape the mask");
  EXPECT_EQ(attention(q, k, k, {}, {{"softcap", -1.0}}),
            "attention of %x0: found softcap -1; expected 0 or more; "
            "use 0 for none");
  EXPECT_EQ(attention(q, k, k, {}, {{"past", int64_t{-1}}}),
            "attention of %x0: found past -1; expected 0 or more; "
            "count the keys before the first query's own");
}

TEST(InferErrorsTest, Recurrences) {
  const auto lstm = [](const Shape& gates, const Shape& r, const Shape& state,
                       const Attributes& attributes = {}) {
    return InferMessage(kLstm, {F32(gates), F32(r), F32(state), F32(state)},
                        attributes);
  };
  EXPECT_EQ(lstm({5, 2, 1, 10}, {1, 3, 12}, {1, 2, 3}),
            "lstm of %x0: found operand 0 %x0: f32[5, 2, 1, 10]; expected 4 "
            "for each of the 3 units of operand 1 %x1: f32[1, 3, 12] in "
            "dimension 3; store the gates of all units in sequence");
  EXPECT_EQ(lstm({5, 2, 1, 12}, {2, 3, 12}, {1, 2, 3}),
            "lstm of %x0: found operand 1 %x1: f32[2, 3, 12]; expected "
            "extents [1, 3, 12]; reshape or expand the operand");
  EXPECT_EQ(lstm({5, 2, 1, 12}, {1, 3, 12}, {1, 3, 3}),
            "lstm of %x0: found operand 2 %x2: f32[1, 3, 3]; expected extents "
            "[1, 2, 3]; reshape or expand the operand");
  EXPECT_EQ(
      lstm({5, 2, 1, 12}, {1, 3, 12}, {1, 2, 3}, {{"reverse", Ints{0, 1}}}),
      "lstm of %x0: found reverse = [0, 1]; expected 0 or 1 for each of "
      "1 directions; leave it out if no direction is reversed");
  EXPECT_EQ(lstm({5, 2, 1, 12}, {1, 3, 12}, {1, 2, 3}, {{"clip", -1.0}}),
            "lstm of %x0: found clip -1; expected 0 or more; use clip = 0 for "
            "no bound");
  EXPECT_EQ(lstm({5, 2, 1, 12}, {1, 3, 12}, {1, 2, 3},
                 {{"activations", "sigmoid tanh"}}),
            "lstm of %x0: found activations \"sigmoid tanh\"; expected 3 of "
            "sigmoid, tanh, relu, affine, leaky_relu, thresholded_relu, "
            "scaled_tanh, hard_sigmoid, elu, softsign, softplus; name them "
            "with one space between");
  EXPECT_EQ(
      InferMessage(kRnn, {F32({5, 2, 1, 3}), F32({1, 3, 3}), F32({1, 1, 3})},
                   {{"activations", "elu"}}),
      "rnn of %x0: found elu without alphas and betas; expected a "
      "number in each for every activation; give both lists, with 0 for "
      "what is not used");
  EXPECT_EQ(InferMessage(kGru, {F32({5, 2, 1, 9}), F32({1, 3, 9}),
                                F32({1, 1, 3}), F32({1, 3}), I64({3})}),
            "gru of %x0: found operand 4 %x4: i64[3]; expected extents [2]; "
            "reshape or expand the operand");
  EXPECT_EQ(
      InferMessage(kRnn, {F32({5, 2, 1, 3}), F32({1, 3, 3}), I64({1, 1, 3})}),
      "rnn of %x0: found operand 2 %x2: i64[1, 1, 3]; expected f32 like "
      "operand 0 %x0: f32[5, 2, 1, 3]; cast the operand");
}

TEST(InferErrorsTest, LayerNormGradients) {
  EXPECT_EQ(
      InferMessage(kLayerNormGradient, {F32({2, 3}), F32({2}), F32({2, 3})}),
      "layer_norm_gradient of %x0: found operand 1 %x1: f32[2]; expected "
      "extents [3]; reshape or expand the operand");
  EXPECT_EQ(InferMessage(kLayerNormScaleGradient, {F32({2, 3}), F32({3})}),
            "layer_norm_scale_gradient of %x0: found operand 1 %x1: f32[3]; "
            "expected extents [2, 3]; reshape or expand the operand");
}

TEST(InferErrorsTest, Moving) {
  EXPECT_EQ(
      InferMessage(kReshape, {F32({2, 3})}, {{"shape", Ints{4, 2}}}),
      "reshape of %x0: found shape = [4, 2] for operand 0 %x0: f32[2, 3]; "
      "expected extents whose product is 6; correct the shape");
  EXPECT_EQ(
      InferMessage(kConcat, {F32({2, 3}), F32({3, 3})}, {{"axis", 1}}),
      "concat of %x0: found operand 1 %x1: f32[3, 3]; expected the "
      "extents of operand 0 %x0: f32[2, 3] except in dimension 1; reshape "
      "or slice the operand");
  EXPECT_EQ(
      InferMessage(kSplit, {F32({5})}, {{"axis", 0}, {"sizes", Ints{2, 2}}}),
      "split of %x0: found sizes = [2, 2]; expected sizes of 0 or more "
      "that sum to 5; correct sizes");
  EXPECT_EQ(InferMessage(
                kSlice, {F32({5})},
                {{"starts", Ints{1}}, {"sizes", Ints{3}}, {"steps", Ints{2}}}),
            "slice of %x0: found 3 elements from 1 with step 2 in dimension 0; "
            "expected elements inside 0..4; correct starts, sizes or steps");
  EXPECT_EQ(
      InferMessage(kPad, {F32({5})},
                   {{"before", Ints{0}}, {"after", Ints{0}}, {"mode", "wrap"}}),
      "pad of %x0: found mode \"wrap\"; expected \"constant\", "
      "\"reflect\" or \"edge\"; name one of them");
}

// Extreme numbers are refused without overflow.
TEST(InferErrorsTest, HugeNumbersAreRefused) {
  const auto refused = [](const OpDef& op, const std::vector<TensorType>& types,
                          const Attributes& attributes) {
    const std::string message = InferMessage(op, types, attributes);
    EXPECT_NE(message.find("expected"), std::string::npos) << message;
  };
  const TensorType x = F32({1, 1, 8});
  refused(kReshape, {F32({2})}, {{"shape", Ints{kHuge, 4}}});
  refused(kReshape, {F32({2})}, {{"shape", Ints{-1, 2}}});
  refused(kExpand, {F32({1})}, {{"shape", Ints{kHuge, kHuge, 1}}});
  refused(kTile, {F32({8})}, {{"repeats", Ints{kHuge}}});
  refused(kTile, {F32({8})}, {{"repeats", Ints{-1}}});
  refused(kPad, {F32({8})}, {{"before", Ints{kHuge}}, {"after", Ints{kHuge}}});
  refused(kPad, {F32({8})}, {{"before", Ints{-9}}, {"after", Ints{0}}});
  refused(
      kSlice, {F32({8})},
      {{"starts", Ints{7}}, {"sizes", Ints{3}}, {"steps", Ints{INT64_MIN}}});
  refused(
      kSlice, {F32({8})},
      {{"starts", Ints{0}}, {"sizes", Ints{kHuge}}, {"steps", Ints{kHuge}}});
  refused(kConv, {x, F32({1, 1, 3})}, {{"pads_before", Ints{kHuge}}});
  refused(kConv, {x, F32({1, 1, 3})}, {{"dilations", Ints{kHuge}}});
  refused(kConv, {x, F32({1, 1, 3})}, {{"strides", Ints{0}}});
  refused(kConvTranspose, {x, F32({1, 1, 3})}, {{"strides", Ints{kHuge}}});
  refused(kConvTranspose, {x, F32({1, 1, 3})},
          {{"output_padding", Ints{kHuge}}});
  refused(kConvTranspose, {x, F32({1, 1, 3})}, {{"groups", kHuge}});
  refused(kMaxPool, {x}, {{"kernel", Ints{kHuge}}});
  refused(kMaxPool, {x}, {{"kernel", Ints{-1}}});
  refused(kMaxPool, {x}, {{"kernel", Ints{2}}, {"ceil_extra", Ints{kHuge}}});
  refused(kAvgPool, {x}, {{"kernel", Ints{2}}, {"ceil_extra", Ints{kHuge}}});
  refused(kFill, {}, {{"dtype", DType::kF32}, {"shape", Ints{kHuge, 8}}});
  refused(kIota, {}, {{"dtype", DType::kF32}, {"count", -1}});
  refused(kOneHot, {I64({8}), F32({2})}, {{"depth", kHuge}});
  refused(kDepthToSpace, {F32({1, 4, 1, 1})}, {{"block", kHuge}});
  refused(kSpaceToDepth, {F32({1, 4, 1, 1})}, {{"block", 0}});
  refused(kResize, {F32({8})}, {{"sizes", Ints{kHuge}}});
  refused(kResize, {F32({8})}, {{"sizes", Ints{8}}, {"scales", Floats{-1}}});
  refused(kTrilu, {F32({2, 2})}, {{"k", INT64_MIN}});
  refused(kLrn, {F32({1, 2})}, {{"size", 0}});
  refused(kGroupNorm, {F32({1, 4}), F32({4}), F32({4})}, {{"groups", 3}});
  refused(kSplit, {F32({8})}, {{"axis", 0}, {"sizes", Ints{kHuge, kHuge}}});
  refused(kGatherNd, {F32({8}), I64({2, 1})}, {{"batch_dims", INT64_MIN}});
}

}  // namespace
}  // namespace partita
