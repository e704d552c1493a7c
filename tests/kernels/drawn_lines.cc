// Reductions and functions along lines.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/kernels/drawn_node.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kMostElements = 100'000;

int64_t CountOf(const Shape& dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

// One extent in four is 1; now and then one is long enough for several tasks.
Shape DrawShape(Dice& dice, int64_t rank) {
  Shape dims;
  for (int64_t i = 0; i < rank; ++i) {
    dims.push_back(i == 1 ? dice.Channels() : dice.Extent());
  }
  if (dice.Chance(30)) {
    dims[dice.Below(rank)] = dice.Of<int64_t>({511, 512, 513, 1009, 8200});
  }
  while (CountOf(dims) > kMostElements) {
    *std::min_element(dims.begin(), dims.end(), [](int64_t a, int64_t b) {
      return (a == 1) < (b == 1) || ((a == 1) == (b == 1) && a < b);
    }) = 1;
  }
  return dims;
}

Ints DrawAxes(Dice& dice, int64_t rank) {
  if (rank >= 3 && dice.Chance(40)) {  // keeps the channels
    Ints axes;
    if (dice.Chance(50)) axes.push_back(0);
    for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
    return axes;
  }
  Ints axes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (dice.Chance(45)) axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back(dice.Below(rank));
  return axes;
}

DrawnNode DrawReduction(Dice& dice) {
  const int64_t rank = dice.Of<int64_t>({1, 2, 3, 4, 4, 4, 5});
  const Shape x = DrawShape(dice, rank);
  Attributes attributes = {{"axes", DrawAxes(dice, rank)}};
  if (dice.Chance(25)) {
    if (dice.Chance(50))
      return {.one = OneNode(kMoments, {F32(x)}, attributes)};
    return {.one = OneNode(kCrossMoments, {F32(x), F32(x)}, attributes)};
  }
  const OpDef* op =
      dice.Of<const OpDef*>({&kReduceSum, &kReduceSum, &kReduceMean,
                             &kReduceMax, &kReduceMin, &kReduceSumSquare});
  attributes.Set("keep_dims", dice.Chance(50));
  const DType dtype = dice.Chance(15) ? DType::kF64 : DType::kF32;
  return {.one = OneNode(*op, {Type(dtype, x)}, attributes)};
}

DrawnNode DrawSoftmax(Dice& dice) {
  const int64_t rank = dice.Between(1, 4);
  return {.one = OneNode(dice.Chance(60) ? kSoftmax : kLogSoftmax,
                         {F32(DrawShape(dice, rank))},
                         {{"axis", dice.Below(rank)}})};
}

DrawnNode DrawLayerNorm(Dice& dice) {
  const int64_t rank = dice.Between(1, 4);
  const Shape x = DrawShape(dice, rank);
  const int64_t axis = dice.Below(rank);
  const TensorType all = F32(x);
  const TensorType line = F32(Shape(x.begin() + axis, x.end()));
  const Attributes attributes = {{"axis", axis}};
  // A variance of few numbers is small, so its root has few digits.
  constexpr double kTolerance = 1e-3;
  const Attributes scaled = {{"axis", axis}, {"center", false}};
  switch (dice.Below(6)) {
    case 4:
      return {.one = OneNode(kLayerNorm, {all, line}, scaled),
              .tolerance = kTolerance};
    case 5:
      return {.one = OneNode(kLayerNorm, {all, line, line}, scaled),
              .tolerance = kTolerance};
    case 0:
      return {.one = OneNode(kLayerNormGradient, {all, line, all}, attributes),
              .tolerance = kTolerance};
    case 1:
      return {.one = OneNode(kLayerNormScaleGradient, {all, all}, attributes),
              .tolerance = kTolerance};
    case 2:
      return {.one = OneNode(kLayerNorm, {all, line}, attributes),
              .tolerance = kTolerance};
    default:
      return {.one = OneNode(kLayerNorm, {all, line, line}, attributes),
              .tolerance = kTolerance};
  }
}

constexpr NodeKind kKinds[] = {
    {"reductions", DrawReduction, 4},
    {"softmax", DrawSoftmax},
    {"layer norm and its gradients", DrawLayerNorm},
};

}  // namespace

absl::Span<const NodeKind> LineKinds() { return kKinds; }

}  // namespace partita
