// The instances, by family.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_samples.h"

#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

using Samples = std::vector<OpSample>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

SampleOperand F32(Shape dims) { return {DType::kF32, std::move(dims)}; }
SampleOperand I32(Shape dims, double low = -9, double high = 9) {
  return {DType::kI32, std::move(dims), low, high};
}
SampleOperand I64(Shape dims, double low, double high) {
  return {DType::kI64, std::move(dims), low, high};
}
SampleOperand Word() { return {DType::kU64, {}, 0, 1e6}; }
SampleOperand Bool(Shape dims) { return {DType::kBool, std::move(dims), 0, 1}; }

bool Accepts(const OpSample& sample) {
  LiteralPool literals;
  Graph graph("sample", &literals);
  return AddSample(sample, graph).ok();
}

// Every elementwise op with broadcast operands of one accepted type.
void AddElementwise(Samples& samples) {
  constexpr DType kTypes[] = {
      DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kI64,
      DType::kI32, DType::kI8,  DType::kU8,  DType::kU64,  DType::kBool};
  const Shape kDims[] = {{4, 3, 5}, {3, 1}, {4, 1, 5}};
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    if (!op.traits.elementwise) continue;
    for (DType dtype : kTypes) {
      OpSample sample{&op, {}, {}};
      for (int n = 0; n < MinOperands(op); ++n) {
        sample.operands.push_back({dtype, kDims[n],
                                   dtype == DType::kU8 ||
                                           dtype == DType::kU64 ||
                                           dtype == DType::kBool
                                       ? 0.0
                                       : -3.0,
                                   dtype == DType::kBool ? 1.0 : 3.0});
      }
      if (Accepts(sample)) samples.push_back(sample);
    }
  }
  samples.push_back({&kWhere, {Bool({4, 1}), F32({3, 1, 5}), F32({4, 5})}, {}});
  samples.push_back({&kWhere, {Bool({5}), I32({3, 5}), I32({1})}, {}});
  samples.push_back({&kPow, {F32({4, 5}), I32({5}, 0, 3)}, {}});
  samples.push_back({&kCast, {F32({4, 5})}, {{"to", DType::kI8}}});
  samples.push_back({&kCast, {I32({4, 5})}, {{"to", DType::kF16}}});
  samples.push_back({&kCast, {F32({4, 5})}, {{"to", DType::kBool}}});
  samples.push_back({&kCast, {F32({4, 5})}, {{"to", DType::kF64}}});
  samples.push_back({&kClip, {F32({4, 5})}, {{"min", -1.0}, {"max", 0.5}}});
  samples.push_back({&kGelu, {F32({4, 5})}, {{"tanh", true}}});
  samples.push_back({&kMod, {F32({4, 5}), F32({5})}, {{"fmod", true}}});
}

void AddMoving(Samples& samples) {
  const Samples more = {
      {&kReshape, {F32({6, 4, 5})}, {{"shape", Ints{24, 5}}}},
      {&kReshape, {F32({24, 5})}, {{"shape", Ints{4, 6, 1, 5}}}},
      {&kReshape, {F32({4, 6, 5})}, {{"shape", Ints{6, 4, 5}}}},
      {&kReshape, {F32({4, 5, 6})}, {{"shape", Ints{2, 10, 6}}}},
      {&kReshape, {F32({0, 3})}, {{"shape", Ints{5, 0}}}},
      {&kTranspose, {F32({3, 4, 5})}, {{"perm", Ints{2, 0, 1}}}},
      {&kTranspose, {I64({3, 4}, -9, 9)}, {{"perm", Ints{1, 0}}}},
      {&kSlice,
       {F32({6, 7, 5})},
       {{"starts", Ints{1, 6, 0}},
        {"sizes", Ints{2, 4, 5}},
        {"steps", Ints{3, -2, 1}}}},
      {&kSlice,
       {Bool({6, 4})},
       {{"starts", Ints{2, 0}}, {"sizes", Ints{3, 4}}}},
      {&kConcat,
       {F32({4, 2, 5}), F32({4, 3, 5}), F32({4, 0, 5})},
       {{"axis", 1}}},
      {&kConcat, {I32({2}), I32({3})}, {{"axis", -1}}},
      {&kSplit, {F32({4, 6, 5})}, {{"axis", 1}, {"sizes", Ints{1, 3, 2}}}},
      {&kExpand, {F32({4, 1, 5})}, {{"shape", Ints{3, 4, 6, 5}}}},
      {&kPad,
       {F32({4, 3, 5})},
       {{"before", Ints{0, 2, -1}},
        {"after", Ints{0, -1, 2}},
        {"value", Number(1.5)}}},
      {&kPad,
       {F32({4, 5})},
       {{"before", Ints{0, 3}}, {"after", Ints{0, 4}}, {"mode", "reflect"}}},
      {&kPad,
       {F32({4, 5})},
       {{"before", Ints{0, 3}}, {"after", Ints{0, 4}}, {"mode", "edge"}}},
      {&kBitCast, {F32({4, 3, 5})}, {{"to", DType::kI32}}},
      {&kBitCast, {I32({4, 3})}, {{"to", DType::kU32}}},
      {&kTile, {F32({4, 3, 5})}, {{"repeats", Ints{3, 1, 2}}}},
      {&kDepthToSpace, {F32({3, 12, 2, 3})}, {{"block", 2}}},
      {&kDepthToSpace, {F32({3, 12, 2, 3})}, {{"block", 2}, {"mode", "crd"}}},
      {&kSpaceToDepth, {F32({3, 2, 6, 4})}, {{"block", 2}}},
      {&kTrilu, {F32({3, 5, 6})}, {{"k", 1}}},
      {&kTrilu, {I32({3, 5, 6})}, {{"upper", false}, {"k", -1}}},
      {&kShape, {F32({3, 5, 6})}, {{"start", 1}}},
      {&kSize, {F32({3, 5, 6})}, {}},
      {&kFill,
       {},
       {{"dtype", DType::kI16}, {"shape", Ints{3, 5}}, {"value", Number(7)}}},
      {&kIota,
       {},
       {{"dtype", DType::kF32},
        {"start", Number(0.5)},
        {"step", Number(0.1)},
        {"count", 7}}},
      {&kIota,
       {},
       {{"dtype", DType::kU64},
        {"start", Number(UINT64_MAX - 2)},
        {"step", Number(INT64_MAX)},
        {"count", 7}}},
      {&kIota,
       {},
       {{"dtype", DType::kI64}, {"step", Number(-3)}, {"count", 7}}},
      {&kRandomUniform,
       {Word(), Word()},
       {{"shape", Ints{3, 5, 7}}, {"id", 4}}},
      {&kRandomUniform,
       {Word(), Word()},
       {{"shape", Ints{3, 5}},
        {"id", 4},
        {"whole", Ints{9, 7}},
        {"origin", Ints{6, 1}}}},
      {&kAccumulate, {F32({4, 5})}, {{"micro_batches", 2}}},
      {&kAccumulate, {F32({4, 5}), F32({4, 5})}, {{"micro_batches", 3}}},
      {&kAccumulate, {I32({4, 5}), I32({4, 5})}, {{"micro_batches", 3}}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddIndexed(Samples& samples) {
  SampleOperand scalar;
  scalar.dtype = DType::kI32;
  scalar.low = 0;
  scalar.high = 6;
  const Samples more = {
      {&kGather, {F32({4, 6, 5}), I64({3, 2}, -6, 5)}, {{"axis", 1}}},
      {&kGather, {F32({7, 5}), scalar}, {}},
      {&kGatherGradient,
       {F32({4, 3, 2, 5}), I64({3, 2}, -6, 5)},
       {{"axis", 1}, {"extent", 6}}},
      {&kGatherGradient, {F32({7, 5}), I64({7}, 0, 3)}, {{"extent", 4}}},
      {&kGatherElements,
       {F32({4, 6, 5}), I64({4, 3, 2}, -6, 5)},
       {{"axis", 1}}},
      {&kGatherElements,
       {F32({4, 6, 5}), I64({4, 3, 2}, 0, 5)},
       {{"axis", 1}, {"from_end", false}}},
      {&kGatherNd,
       {F32({3, 4, 6, 5}), I64({3, 7, 2}, 0, 3)},
       {{"batch_dims", 1}}},
      {&kGatherNd, {F32({4, 6, 5}), I64({7, 2}, 0, 3)}, {}},
      {&kScatterElements,
       {F32({4, 6, 5}), I64({4, 3, 5}, -6, 5), F32({4, 3, 5})},
       {{"axis", 1}, {"reduction", "add"}}},
      {&kScatterElements,
       {I32({4, 6}), I32({4, 3}, 0, 5), I32({4, 3})},
       {{"axis", 1}}},
      {&kScatterElements,
       {F32({4, 6}), I64({4, 3}, 0, 5), F32({4, 3})},
       {{"axis", 1}, {"reduction", "mul"}}},
      {&kScatterElements, {F32({4, 6}), I64({1, 6}, 0, 3), F32({1, 6})}, {}},
      {&kScatterNd,
       {F32({4, 6, 5}), I64({7, 1}, 0, 3), F32({7, 6, 5})},
       {{"reduction", "max"}}},
      {&kOneHot, {I64({4, 3}, -6, 5), F32({2})}, {{"depth", 6}, {"axis", 1}}},
      {&kTopK, {F32({4, 7, 3})}, {{"k", 3}, {"axis", 1}}},
      {&kTopK, {I32({4, 7}, 0, 3)}, {{"k", 5}, {"largest", false}}},
      {&kArgMax, {I32({4, 7, 3}, 0, 3)}, {{"axis", 1}}},
      {&kArgMin,
       {F32({4, 7, 3})},
       {{"axis", -1}, {"keep_dims", false}, {"last_index", true}}},
      {&kCumsum, {F32({4, 7, 3})}, {{"axis", 1}, {"exclusive", true}}},
      {&kCumsum, {I32({4, 7})}, {{"axis", -1}, {"reverse", true}}},
      {&kCumprod, {F32({4, 7, 3})}, {{"axis", 1}, {"exclusive", true}}},
      {&kCumprod, {I32({4, 7}, -3, 3)}, {{"axis", -1}, {"reverse", true}}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddReductions(Samples& samples) {
  const OpDef* const kReductions[] = {
      &kReduceSum,       &kReduceMean,     &kReduceMax, &kReduceMin,
      &kReduceProd,      &kReduceL1,       &kReduceL2,  &kReduceLogSum,
      &kReduceLogSumExp, &kReduceSumSquare};
  for (const OpDef* op : kReductions) {
    SampleOperand x = F32({4, 5, 3});
    if (op == &kReduceLogSum) x.low = 0.1;
    samples.push_back({op, {x}, {{"axes", Ints{1}}}});
    samples.push_back({op, {x}, {{"axes", Ints{0, 2}}, {"keep_dims", false}}});
    samples.push_back({op, {I32({4, 5}, 1, 9)}, {{"axes", Ints{-1}}}});
  }
  samples.push_back({&kMoments, {F32({4, 5, 3})}, {{"axes", Ints{0, 2}}}});
  samples.push_back({&kMoments, {F32({4, 5, 3})}, {{"axes", Ints{-1}}}});
  const Samples pairs = {
      {&kCrossMoments,
       {F32({4, 5, 3}), F32({4, 5, 3})},
       {{"axes", Ints{0, 2}}}},
      {&kCrossMoments, {F32({4, 5, 3}), F32({4, 5, 3})}, {{"axes", Ints{-1}}}}};
  samples.insert(samples.end(), pairs.begin(), pairs.end());
}

void AddWindows(Samples& samples) {
  const Samples more = {
      {&kConv,
       {F32({2, 4, 9, 8}), F32({6, 4, 3, 3})},
       {{"strides", Ints{2, 1}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 0}}}},
      {&kConv,
       {F32({2, 4, 9, 8}), F32({6, 2, 3, 2}), F32({6})},
       {{"groups", 2}, {"dilations", Ints{2, 3}}, {"pads_before", Ints{3, 0}}}},
      {&kConv,
       {F32({1, 4, 11}), F32({4, 1, 4}), F32({4})},
       {{"groups", 4}, {"strides", Ints{3}}, {"pads_after", Ints{5}}}},
      {&kConv, {I32({1, 3, 5, 5}), I32({3, 3, 1, 1})}, {}},
      {&kConv, {F32({1, 2, 3}), F32({2, 2, 1})}, {{"pads_before", Ints{4}}}},
      {&kConvTranspose,
       {F32({2, 4, 5, 4}), F32({4, 3, 3, 2})},
       {{"strides", Ints{2, 3}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{0, 1}},
        {"output_padding", Ints{1, 0}}}},
      {&kConvTranspose,
       {F32({2, 4, 5}), F32({4, 3, 3}), F32({6})},
       {{"groups", 2}, {"dilations", Ints{2}}}},
      {&kMaxPool,
       {F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{1, 0}}}},
      {&kConvWeightGradient,
       {F32({3, 4, 9, 8}), F32({3, 6, 5, 8})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 1}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 0}}}},
      {&kConvWeightGradient,
       {F32({2, 4, 11}), F32({2, 6, 2})},
       {{"kernel", Ints{3}},
        {"groups", 2},
        {"strides", Ints{3}},
        {"dilations", Ints{2}}}},
      {&kMaxPoolGradient,
       {F32({2, 3, 9, 8}), F32({2, 3, 5, 4})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{1, 0}}}},
      {&kMaxPoolGradient,
       {F32({1, 2, 8}), F32({1, 2, 4})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
      {&kAvgPoolGradient,
       {F32({2, 3, 5, 4})},
       {{"kernel", Ints{3, 3}},
        {"sizes", Ints{9, 8}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 1}}}},
      {&kMaxPool,
       {F32({1, 2, 8})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
      {&kMaxPool,
       {I32({2, 3, 9})},
       {{"kernel", Ints{3}}, {"dilations", Ints{2}}}},
      {&kAvgPool,
       {F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 3}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 1}}}},
      {&kAvgPool,
       {F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 3}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 1}},
        {"ceil_extra", Ints{0, 1}},
        {"count_include_pad", true}}},
      {&kAvgPool,
       {F32({1, 2, 8})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
      {&kMaxPoolIndices,
       {F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{1, 0}}}},
      {&kResize,
       {F32({3, 2, 4, 5})},
       {{"sizes", Ints{3, 2, 7, 8}}, {"mode", "linear"}}},
      {&kResize,
       {F32({3, 2, 4, 5})},
       {{"sizes", Ints{3, 2, 8, 3}},
        {"mode", "cubic"},
        {"coordinates", "align_corners"}}},
      {&kResizeGradient,
       {F32({3, 2, 7, 8})},
       {{"sizes", Ints{3, 2, 4, 5}}, {"mode", "linear"}}},
      {&kResizeGradient,
       {F32({3, 2, 7, 8})},
       {{"sizes", Ints{3, 2, 4, 5}}, {"nearest", "floor"}}},
      {&kResize, {F32({3, 2, 4, 5})}, {{"sizes", Ints{3, 2, 8, 3}}}},
      {&kResize,
       {I32({3, 2, 4, 5})},
       {{"sizes", Ints{3, 2, 8, 10}},
        {"scales", Floats{1, 1, 2, 2}},
        {"coordinates", "asymmetric"},
        {"nearest", "floor"}}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

// Positions slightly beyond the sampled tensor.
void AddSampled(Samples& samples) {
  const SampleOperand grid = {DType::kF32, {3, 2, 5, 2}, -1.3, 1.3};
  const SampleOperand regions = {DType::kF32, {5, 4}, -1, 9};
  const Samples more = {
      {&kGridSample, {F32({3, 2, 4, 5}), grid}, {}},
      {&kGridSample,
       {F32({3, 2, 4, 5}), grid},
       {{"mode", "cubic"}, {"padding", "reflection"}, {"align_corners", true}}},
      {&kGridSample,
       {F32({3, 2, 4, 5}), grid},
       {{"mode", "nearest"}, {"padding", "border"}}},
      {&kGridSample,
       {F32({2, 3, 3, 4, 5}), {DType::kF32, {2, 3, 2, 4, 3}, -1.3, 1.3}},
       {{"padding", "border"}}},
      {&kRoiAlign,
       {F32({2, 3, 8, 9}), regions, I64({5}, 0, 1)},
       {{"height", 3}, {"width", 2}, {"sampling_ratio", 2}}},
      {&kRoiAlign,
       {F32({2, 3, 8, 9}), regions, I64({5}, 0, 1)},
       {{"height", 3}, {"width", 2}, {"mode", "max"}, {"half_pixel", false}}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddLinear(Samples& samples) {
  const SampleOperand half = {DType::kF16, {4, 6}};
  const Samples more = {
      {&kMatmul, {F32({5, 6}), F32({6, 7})}, {}},
      {&kMatmul, {F32({3, 1, 5, 6}), F32({4, 6, 7})}, {}},
      {&kMatmul,
       {F32({3, 6, 5}), F32({3, 7, 6})},
       {{"transpose_a", true}, {"transpose_b", true}}},
      {&kMatmul, {F32({6}), F32({3, 6, 7})}, {}},
      {&kDet, {F32({3, 2, 4, 4})}, {}},
      {&kMatmul, {F32({3, 5, 6}), F32({6})}, {}},
      {&kMatmul, {I32({5, 6}), I32({6, 7})}, {}},
      {&kMatmul, {half, {DType::kF16, {6, 5}}}, {}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddAttention(Samples& samples) {
  const SampleOperand queries = F32({3, 4, 5, 2}), keys = F32({3, 2, 6, 2});
  const SampleOperand values = F32({3, 2, 6, 3}), dy = F32({3, 4, 5, 3});
  const Attributes scaled = {{"scale", 0.5}};
  const Attributes causal = {{"scale", 0.5}, {"causal", true}};
  const Attributes late = {
      {"scale", 0.5}, {"causal", true}, {"past", int64_t{1}}};
  const Attributes rows = {{"scale", 0.5}, {"positions_first", true}};
  const Attributes capped = {{"scale", 2.0}, {"softcap", 1.5}};
  const Samples more = {
      {&kAttention, {queries, keys, values}, scaled},
      {&kAttention, {queries, keys, values}, late},
      {&kAttention, {queries, keys, values, F32({3, 4, 5, 6})}, capped},
      {&kAttention, {queries, keys, values, F32({3, 1, 1, 6})}, causal},
      {&kAttention, {queries, keys, values, F32({5, 1})}, late},
      {&kAttention,
       {F32({3, 3, 4, 2}), F32({3, 1, 4, 2}), F32({3, 1, 4, 2})},
       causal},
      {&kAttention,
       {F32({3, 5, 4, 2}), F32({3, 6, 2, 2}), F32({3, 6, 2, 3})},
       rows},
      {&kAttentionGradient, {queries, keys, values, dy}, late},
      {&kAttentionGradient,
       {queries, keys, values, dy, F32({4, 5, 6})},
       capped},
      {&kAttentionGradient,
       {F32({3, 3, 4, 2}), F32({3, 1, 4, 2}), F32({3, 1, 4, 2}),
        F32({3, 3, 4, 2})},
       causal},
      {&kAttentionGradient,
       {F32({3, 5, 4, 2}), F32({3, 6, 2, 2}), F32({3, 6, 2, 3}),
        F32({3, 5, 4, 3})},
       rows},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddRecurrences(Samples& samples) {
  const SampleOperand lengths = I64({3}, 0, 4);
  const SampleOperand small = {DType::kF32, {2, 3, 12}, -0.5, 0.5};
  const Attributes both = {{"reverse", Ints{0, 1}}};
  const Samples more = {
      {&kLstm,
       {F32({4, 3, 2, 12}), small, F32({2, 3, 3}), F32({2, 1, 3})},
       both},
      {&kLstm,
       {F32({4, 3, 2, 12}), small, F32({2, 1, 3}), F32({2, 3, 3}), lengths,
        F32({2, 9})},
       {{"reverse", Ints{1, 0}}, {"clip", 1.25}}},
      {&kLstm,
       {F32({2, 3, 1, 4}), F32({1, 1, 4}), F32({1, 3, 1}), F32({1, 3, 1}),
        I64({1}, 1, 2), F32({1, 3})},
       {{"input_forget", true},
        {"activations", "hard_sigmoid softsign elu"},
        {"alphas", Floats{0.3, 0, 0.7}},
        {"betas", Floats{0.4, 0, 0}}}},
      {&kLstmGradient,
       {F32({4, 3, 2, 12}), small, F32({2, 3, 3}), F32({2, 1, 3}),
        F32({4, 3, 2, 3}), F32({2, 2, 3, 3})},
       both},
      {&kLstmGradient,
       {F32({4, 3, 2, 12}), small, F32({2, 1, 3}), F32({2, 3, 3}),
        F32({4, 3, 2, 3}), F32({2, 2, 3, 3}), lengths, F32({2, 9})},
       both},
      {&kGru,
       {F32({4, 3, 2, 9}),
        {DType::kF32, {2, 3, 9}, -0.5, 0.5},
        F32({2, 3, 3}),
        F32({2, 3}),
        lengths},
       {{"reverse", Ints{0, 1}}, {"linear_before_reset", true}}},
      {&kGru,
       {F32({4, 3, 1, 6}), F32({1, 2, 6}), F32({1, 1, 2}), F32({1, 2})},
       {{"clip", 1.25}}},
      {&kGru,
       {F32({2, 3, 1, 6}), F32({1, 2, 6}), F32({1, 3, 2})},
       {{"activations", "softplus scaled_tanh"},
        {"alphas", Floats{0, 1.5}},
        {"betas", Floats{0, 0.5}}}},
      {&kGruGradient,
       {F32({4, 3, 2, 9}),
        {DType::kF32, {2, 3, 9}, -0.5, 0.5},
        F32({2, 3, 3}),
        F32({4, 3, 2, 3}),
        F32({1, 2, 3, 3}),
        F32({2, 3}),
        lengths},
       {{"reverse", Ints{0, 1}}, {"linear_before_reset", true}}},
      {&kGruGradient,
       {F32({4, 3, 1, 6}), F32({1, 2, 6}), F32({1, 1, 2}), F32({4, 3, 1, 2}),
        F32({1, 1, 3, 2})},
       {}},
      {&kRnn,
       {F32({4, 3, 2, 3}),
        {DType::kF32, {2, 3, 3}, -0.5, 0.5},
        F32({2, 3, 3}),
        lengths},
       both},
      {&kRnn,
       {F32({4, 3, 1, 2}), F32({1, 2, 2}), F32({1, 1, 2})},
       {{"activations", "affine"},
        {"alphas", Floats{0.5}},
        {"betas", Floats{0.25}}}},
      {&kRnnGradient,
       {F32({4, 3, 2, 3}),
        {DType::kF32, {2, 3, 3}, -0.5, 0.5},
        F32({2, 3, 3}),
        F32({4, 3, 2, 3}),
        F32({1, 2, 3, 3}),
        lengths},
       both},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

void AddNorms(Samples& samples) {
  const SampleOperand variance = {DType::kF32, {6}, 0.1, 2};
  const Samples more = {
      {&kBatchNorm,
       {F32({3, 6, 4}), F32({6}), F32({6}), F32({6}), variance},
       {}},
      {&kInstanceNorm, {F32({3, 6, 4}), F32({6}), F32({6})}, {}},
      {&kGroupNorm, {F32({3, 6, 4}), F32({6}), F32({6})}, {{"groups", 3}}},
      {&kLayerNorm, {F32({3, 4, 6}), F32({6}), F32({6})}, {}},
      {&kLayerNorm, {F32({3, 4, 6}), F32({4, 6})}, {{"axis", 1}}},
      {&kLayerNorm, {F32({3, 4, 6}), F32({6})}, {{"center", false}}},
      {&kLayerNormGradient, {F32({3, 4, 6}), F32({6}), F32({3, 4, 6})}, {}},
      {&kLayerNormGradient,
       {F32({3, 4, 6}), F32({4, 6}), F32({3, 4, 6})},
       {{"axis", 1}}},
      {&kLayerNormScaleGradient, {F32({3, 4, 6}), F32({3, 4, 6})}, {}},
      {&kLayerNormScaleGradient,
       {F32({3, 4, 6}), F32({3, 4, 6})},
       {{"axis", 1}}},
      {&kLrn, {F32({3, 6, 4})}, {{"size", 3}, {"alpha", 0.5}}},
      {&kLpNorm, {F32({3, 6, 4})}, {{"axis", 1}}},
      {&kLpNorm, {F32({3, 6, 4})}, {{"p", 1}}},
      {&kSoftmax, {F32({3, 6, 4})}, {{"axis", 1}}},
      {&kLogSoftmax, {F32({3, 6})}, {}},
      {&kHardmax, {F32({3, 6})}, {}},
  };
  samples.insert(samples.end(), more.begin(), more.end());
}

}  // namespace

std::vector<OpSample> OpSamples() {
  Samples samples;
  AddElementwise(samples);
  AddMoving(samples);
  AddIndexed(samples);
  AddReductions(samples);
  AddWindows(samples);
  AddSampled(samples);
  AddLinear(samples);
  AddAttention(samples);
  AddRecurrences(samples);
  AddNorms(samples);
  return samples;
}

HostTensor RandomTensor(const SampleOperand& operand, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(operand.low, operand.high);
  const bool whole = !IsFloat(operand.dtype);
  if (whole) {
    uniform = std::uniform_real_distribution<double>(operand.low - 0.49,
                                                     operand.high + 0.49);
  }
  HostTensor tensor({operand.dtype, operand.dims, {}});
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    const double value = uniform(random);
    SetFromDouble(tensor, i, whole ? std::nearbyint(value) : value);
  }
  return tensor;
}

absl::StatusOr<NodeId> AddSample(const OpSample& sample, Graph& graph) {
  NodeSpec spec;
  spec.op = sample.op;
  spec.attributes = sample.attributes;
  for (const SampleOperand& operand : sample.operands) {
    spec.operands.push_back(
        graph.AddInput(absl::StrCat("x", spec.operands.size()),
                       {operand.dtype, operand.dims, {}}));
  }
  return graph.AddNode(std::move(spec));
}

std::string ToString(const OpSample& sample) {
  std::string text = absl::StrCat(sample.op->name, "(");
  for (const SampleOperand& operand : sample.operands) {
    absl::StrAppend(&text, text.back() == '(' ? "" : ", ",
                    TensorType{operand.dtype, operand.dims, {}}.ToString());
  }
  return text + ")";
}

}  // namespace partita
