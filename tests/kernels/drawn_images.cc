// Pools, resizing, normalisation and functions of two operands.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/kernels/drawn_node.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kMostElements = 30'000;

// Halves the largest extent until it is small enough.
Shape Bounded(Shape dims) {
  const auto count = [&] {
    int64_t n = 1;
    for (int64_t extent : dims) n *= extent;
    return n;
  };
  while (count() > kMostElements) {
    *std::max_element(dims.begin(), dims.end()) /= 2;
  }
  return dims;
}

Shape DrawImage(Dice& dice) {
  Shape dims = {dice.Between(1, 3), dice.Channels()};
  const int64_t rank = dice.Of<int64_t>({1, 2, 2, 2, 2, 3});
  for (int64_t i = 0; i < rank; ++i) dims.push_back(dice.Extent());
  return Bounded(std::move(dims));
}

// A window that fits into the image.
Attributes DrawWindow(Dice& dice, const Shape& x, bool may_dilate) {
  Ints kernel, strides, dilations, before, after;
  const bool is_alike = dice.Chance(50);
  for (size_t d = 2; d < x.size(); ++d) {
    if (d > 2 && is_alike && x[d] >= kernel[0]) {
      kernel.push_back(kernel[0]);
      strides.push_back(strides[0]);
    } else {
      kernel.push_back(std::min(dice.Of<int64_t>({1, 2, 2, 3, 3, 5}), x[d]));
      strides.push_back(dice.Between(1, 3));
    }
    const int64_t taps = kernel.back();
    const bool fits = (taps - 1) * 2 < x[d];
    dilations.push_back(may_dilate && fits && dice.Chance(15) ? 2 : 1);
    before.push_back(dice.Chance(60) ? 0 : dice.Below(taps));
    after.push_back(dice.Chance(60) ? before.back() : dice.Below(taps));
  }
  Attributes window = {{"kernel", kernel},
                       {"strides", strides},
                       {"pads_before", before},
                       {"pads_after", after}};
  if (may_dilate) window.Set("dilations", dilations);
  return window;
}

OneNode AvgPool(Dice& dice, const Shape& x, Attributes& window) {
  if (dice.Chance(30)) window.Set("count_include_pad", true);
  return OneNode(kAvgPool, {F32(x)}, window);
}

DrawnNode DrawAvgPool(Dice& dice) {
  const Shape x = DrawImage(dice);
  if (dice.Chance(25)) {
    Ints axes;
    for (size_t d = 2; d < x.size(); ++d) {
      axes.push_back(static_cast<int64_t>(d));
    }
    return {.one = OneNode(kReduceMean, {F32(x)},
                           {{"axes", axes}, {"keep_dims", dice.Chance(50)}})};
  }
  Attributes window = DrawWindow(dice, x, /*may_dilate=*/false);
  return {.one = AvgPool(dice, x, window)};
}

DrawnNode DrawAvgPoolGradient(Dice& dice) {
  const Shape x = DrawImage(dice);
  Attributes window = DrawWindow(dice, x, /*may_dilate=*/false);
  const OneNode pool = AvgPool(dice, x, window);
  window.Set("sizes", Ints(x.begin() + 2, x.end()));
  return {.one = OneNode(kAvgPoolGradient,
                         {F32(pool.node().result_type(0).dims)}, window)};
}

DrawnNode DrawMaxPool(Dice& dice) {
  const Shape x = DrawImage(dice);
  const Attributes window = DrawWindow(dice, x, /*may_dilate=*/true);
  OneNode pool(kMaxPool, {F32(x)}, window);
  if (dice.Chance(50)) return {.one = std::move(pool)};
  const Shape y = pool.node().result_type(0).dims;
  return {.one = OneNode(kMaxPoolGradient, {F32(x), F32(y)}, window)};
}

DrawnNode DrawGridSample(Dice& dice) {
  const Shape x = DrawImage(dice);
  Shape grid = {x[0]};
  for (size_t d = 2; d < x.size(); ++d) grid.push_back(dice.Between(1, 12));
  grid.push_back(static_cast<int64_t>(x.size()) - 2);
  const Attributes attributes = {
      {"mode", std::string(dice.Chance(50) ? "linear" : "cubic")},
      {"padding", std::string(dice.Chance(50) ? "zeros" : "reflection")},
      {"align_corners", dice.Chance(50)}};
  return {.one = OneNode(kGridSample, {F32(x), F32(grid)}, attributes),
          .tolerance = 5e-5};
}

DrawnNode DrawResize(Dice& dice) {
  const Shape x = DrawImage(dice);
  const bool is_nearest = dice.Chance(50);
  Ints sizes = {x[0], x[1]};
  for (size_t d = 2; d < x.size(); ++d) {
    sizes.push_back(is_nearest ? x[d] * dice.Between(1, 3) : dice.Extent());
  }
  Attributes attributes = {
      {"mode", std::string(is_nearest ? "nearest" : "linear")},
      {"sizes", sizes},
      {"coordinates", std::string(is_nearest ? "asymmetric" : "half_pixel")}};
  if (is_nearest) attributes.Set("nearest", std::string("floor"));
  // oneDNN computes positions in f32.
  return {.one = OneNode(kResize, {F32(x)}, attributes), .tolerance = 5e-5};
}

DrawnNode DrawBatchNorm(Dice& dice) {
  const Shape x = DrawImage(dice);
  const TensorType line = F32({x[1]});
  return {.one = OneNode(kBatchNorm, {F32(x), line, line, line, line}),
          .tolerance = 1e-4,
          .low = 0.1};
}

// Equal shapes, and one that is broadcast: by channels, rows, or one value.
DrawnNode DrawBinary(Dice& dice) {
  const OpDef* op = dice.Of<const OpDef*>({&kAdd, &kSub, &kMul, &kDiv});
  const Shape x = DrawImage(dice);
  Shape other = x;
  switch (dice.Below(5)) {
    case 0:
      other = Shape(x.size(), 1);
      other[1] = x[1];
      break;
    case 1:
      other = {x.back()};
      break;
    case 2:
      other = {};
      break;
    case 3:
      for (int64_t& extent : other) {
        if (dice.Chance(40)) extent = 1;
      }
      break;
    default:
      break;
  }
  std::vector<TensorType> types = {F32(x), F32(other)};
  const bool commutes = op == &kAdd || op == &kMul;
  if (commutes && dice.Chance(30)) std::swap(types[0], types[1]);
  return {.one = OneNode(*op, types), .low = 0.5};
}

// Generated code: a function, or a fused chain of functions.
DrawnNode DrawElementwise(Dice& dice) {
  const Shape x = DrawImage(dice);
  if (dice.Chance(40)) {
    const OpDef* op = dice.Of<const OpDef*>(
        {&kRelu, &kExp, &kTanh, &kSqrt, &kErf, &kNeg, &kAbs});
    return {.one = OneNode(*op, {F32(x)}), .tolerance = 1e-5, .low = 0.1};
  }
  DrawnBody body;
  ValueId value = body.Input(F32(x));
  const int64_t links = dice.Between(1, 3);
  for (int64_t i = 0; i < links; ++i) {
    value = body.AddEpilogue(value, static_cast<int>(dice.Below(2)), dice);
  }
  value = body.Add(kTanh, {value});
  return {.one = body.Fuse(value), .tolerance = 1e-5};
}

constexpr NodeKind kKinds[] = {
    {"average pool, mean of an image", DrawAvgPool},
    {"gradient of an average pool", DrawAvgPoolGradient},
    {"max pool and its gradient", DrawMaxPool},
    {"resize", DrawResize},
    {"grid sample", DrawGridSample},
    {"batch norm", DrawBatchNorm},
    {"functions of two operands", DrawBinary},
    {"elementwise, fused", DrawElementwise},
};

}  // namespace

absl::Span<const NodeKind> ImageKinds() { return kKinds; }

}  // namespace partita
