// Steps that sum: products, convolutions, pools, reductions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/op_list.h"
#include "tests/random_graph/graph_sketch.h"

namespace partita {
namespace {

constexpr double kWeight = 0.5;  // keeps sums of a few products near 1

ValueId PickImage(GraphSketch& s) { return s.PickFloat(4, 4); }

// Two random numbers in [low, high].
Ints Pair(GraphSketch& s, int64_t low, int64_t high) {
  return {s.Between(low, high), s.Between(low, high)};
}

// Perhaps a bias add, then perhaps an activation, for epilogues.
void Epilogue(GraphSketch& s, ValueId x, Shape bias) {
  if (!x.valid()) return;
  if (s.OneIn(2)) {
    x = s.Add(kAdd, {x, s.Constant(DType::kF32, std::move(bias), -1, 1)});
  }
  if (s.OneIn(2)) s.Add(*s.OneOf({&kRelu, &kTanh, &kSigmoid}), {x});
}

}  // namespace

void MatMulStep(GraphSketch& s) {
  const ValueId a = s.PickFloat(2);
  if (!a.valid()) return;
  const bool transpose_a = s.OneIn(4);
  const bool transpose_b = s.OneIn(2);
  const Shape dims = s.dims(a);
  const int64_t k = dims[dims.size() - (transpose_a ? 2 : 1)];
  const int64_t n = s.Extent();
  ValueId b = s.Pick([&](const TensorType& type) {
    return type.dtype == DType::kF32 && type.rank() == 2 &&
           type.dims[transpose_b ? 1 : 0] == k;
  });
  if (!b.valid() || s.OneIn(2)) {
    Shape weights = transpose_b ? Shape{n, k} : Shape{k, n};
    if (dims.size() > 2 && s.OneIn(3)) weights.insert(weights.begin(), 1);
    b = s.Constant(DType::kF32, std::move(weights), -kWeight, kWeight);
  }
  const ValueId y =
      s.Add(kMatmul, {a, b},
            {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
  if (y.valid()) Epilogue(s, y, {s.dims(y).back()});
}

void ConvStep(GraphSketch& s) {
  const ValueId x = PickImage(s);
  if (!x.valid()) return;
  const int64_t channels = s.dims(x)[1];
  const int64_t groups = channels > 1 && s.OneIn(3) ? channels : 1;
  const int64_t filters = groups * s.Between(1, groups == 1 ? 5 : 2);
  const Ints kernel = Pair(s, 1, 3);
  const ValueId w = s.Constant(
      DType::kF32, {filters, channels / groups, kernel[0], kernel[1]}, -kWeight,
      kWeight);
  ValueIds operands = {x, w};
  if (s.OneIn(2)) {
    operands.push_back(s.Constant(DType::kF32, {filters}, -1, 1));
  }
  const ValueId y = s.Add(kConv, operands,
                          {{"strides", Pair(s, 1, 2)},
                           {"dilations", Pair(s, 1, 2)},
                           {"pads_before", Pair(s, 0, 2)},
                           {"pads_after", Pair(s, 0, 2)},
                           {"groups", groups}});
  if (y.valid()) Epilogue(s, y, {filters, 1, 1});
}

void PoolStep(GraphSketch& s) {
  const ValueId x = PickImage(s);
  const Ints kernel = Pair(s, 2, 3);
  Attributes attributes = {{"kernel", kernel},
                           {"strides", Pair(s, 1, 2)},
                           {"pads_before", Pair(s, 0, 1)},
                           {"pads_after", Pair(s, 0, 1)}};
  if (s.OneIn(2)) {
    s.Add(kMaxPool, {x}, attributes);
    return;
  }
  attributes.Set("count_include_pad", s.OneIn(2));
  s.Add(kAvgPool, {x}, attributes);
}

void BatchNormStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(2);
  if (!x.valid()) return;
  const Shape channels = {s.dims(x)[1]};
  s.Add(kBatchNorm, {x, s.Constant(DType::kF32, channels, 0.5, 1.5),
                     s.Constant(DType::kF32, channels, -1, 1),
                     s.Constant(DType::kF32, channels, -1, 1),
                     s.Constant(DType::kF32, channels, 0.5, 1.5)});
}

void ReduceStep(GraphSketch& s) {
  ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  Ints axes;
  for (size_t axis = 0; axis < s.dims(x).size(); ++axis) {
    if (s.OneIn(2)) axes.push_back(static_cast<int64_t>(axis));
  }
  if (axes.empty()) axes = {0};
  if (s.OneIn(3)) {  // for factor_sums
    x = s.AddHidden(kMul, {x, s.Constant(DType::kF32, {}, 0.5, 1.5)});
  }
  const OpDef* op =
      s.OneOf({&kReduceMean, &kReduceMean, &kReduceSum, &kReduceMax,
               &kReduceMin, &kReduceL2, &kReduceLogSumExp});
  const ValueId y =
      s.Add(*op, {x}, {{"axes", axes}, {"keep_dims", s.OneIn(2)}});
  if (op == &kReduceSum && y.valid()) s.Add(kTanh, {y});
}

void SoftmaxStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  const int64_t axis = s.Below(static_cast<int64_t>(s.dims(x).size()));
  s.Add(*s.OneOf({&kSoftmax, &kLogSoftmax}), {x}, {{"axis", axis}});
}

}  // namespace partita
