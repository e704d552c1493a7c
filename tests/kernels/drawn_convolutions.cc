// Convolutions of one to three dimensions, their transposes and gradients.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/kernels/drawn_node.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// For Winograd's tiles, the digits of docs/internals/numerics.md; for 16 bits,
// those of one rounding.
constexpr double kTolerance = 2e-4;
constexpr double kToleranceOf16Bits = 2e-2;
constexpr int64_t kMostProducts = 400'000;

struct Window {
  Ints kernel, strides, dilations, before, after;
  Ints large;  // the side that the window slides over
  Ints small;  // its positions
};

void DrawDimension(Dice& dice, Window& w) {
  const int64_t taps = dice.Of<int64_t>({1, 1, 2, 3, 3, 3, 4, 5, 7});
  const int64_t dilation = dice.Chance(20) ? dice.Between(2, 3) : 1;
  const int64_t span = (taps - 1) * dilation + 1;
  const int64_t stride = dice.Of<int64_t>({1, 1, 1, 2, 2, 3, 4});
  // Now and then a whole window reads only padding.
  const int64_t most = dice.Chance(10) ? 2 * span : span;
  const int64_t before = dice.Chance(50) ? 0 : dice.Below(most);
  const int64_t after = dice.Chance(50) ? before : dice.Below(most);
  const int64_t extent =
      std::max(dice.Extent(), std::max<int64_t>(1, span - before - after));
  w.kernel.push_back(taps);
  w.dilations.push_back(dilation);
  w.strides.push_back(stride);
  w.before.push_back(before);
  w.after.push_back(after);
  w.large.push_back(extent);
  w.small.push_back((extent + before + after - span) / stride + 1);
}

// Winograd's, and strided 1x1, are drawn often.
void DrawCommon(Dice& dice, Window& w) {
  const int64_t taps = dice.Chance(50) ? 3 : 1;
  const int64_t stride = taps == 3 ? 1 : dice.Between(1, 3);
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t extent = std::max<int64_t>(dice.Extent(), 2);
    const int64_t pad = taps / 2;
    w.kernel.push_back(taps);
    w.dilations.push_back(1);
    w.strides.push_back(stride);
    w.before.push_back(pad);
    w.after.push_back(pad);
    w.large.push_back(extent);
    w.small.push_back((extent + 2 * pad - taps) / stride + 1);
  }
}

struct Convolution {
  Window window;
  int64_t images, in, out, groups;

  int64_t Products() const {
    int64_t products = images * in / groups * out;
    for (int64_t taps : window.kernel) products *= taps;
    for (int64_t positions : window.small) products *= positions;
    return products;
  }
};

Convolution DrawOne(Dice& dice) {
  Convolution c;
  if (dice.Chance(40)) {
    DrawCommon(dice, c.window);
  } else {
    const int64_t rank = dice.Of<int64_t>({1, 2, 2, 3});
    for (int64_t axis = 0; axis < rank; ++axis) DrawDimension(dice, c.window);
  }
  c.images = dice.Between(1, 4);
  c.in = dice.Channels();
  c.out = dice.Channels();
  c.groups = 1;
  if (dice.Chance(25)) {  // few channels, padded to blocks
    c.in = dice.Between(1, 15);
    c.out = 8 * dice.Between(1, 4);
  } else if (dice.Chance(15)) {  // depthwise
    c.groups = c.in;
    c.out = c.in * dice.Of<int64_t>({1, 1, 1, 2});
  } else if (dice.Chance(15)) {
    c.groups = dice.Between(2, 4);
    c.in = dice.Of<int64_t>({1, 3, 4, 8, 16}) * c.groups;
    c.out = dice.Of<int64_t>({1, 3, 4, 8, 16}) * c.groups;
  }
  return c;
}

Convolution Draw(Dice& dice) {
  Convolution c = DrawOne(dice);
  while (c.Products() > kMostProducts) c = DrawOne(dice);
  return c;
}

Shape Of(int64_t first, int64_t second, const Ints& spatial) {
  Shape dims = {first, second};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

Attributes AttributesOf(const Convolution& c) {
  return {{"strides", c.window.strides},
          {"dilations", c.window.dilations},
          {"pads_before", c.window.before},
          {"pads_after", c.window.after},
          {"groups", c.groups}};
}

DType DrawType(Dice& dice) {
  if (dice.Chance(80)) return DType::kF32;
  return dice.Chance(60) ? DType::kBF16 : DType::kF16;
}

double ToleranceOf(DType dtype) {
  return dtype == DType::kF32 ? kTolerance : kToleranceOf16Bits;
}

// Alone or with a bias; or with an epilogue that passes fuse.
DrawnNode Finished(Dice& dice, const OpDef& op, const Shape& x, const Shape& w,
                   int64_t out, const Attributes& attributes) {
  const DType dtype = DrawType(dice);
  if (dtype == DType::kF32 && dice.Chance(40)) {
    DrawnBody body;
    const ValueId image = body.Input(F32(x)), filters = body.Input(F32(w));
    const ValueId y = body.Add(op, {image, filters}, attributes);
    const ValueId last = body.AddEpilogue(y, 1, dice);
    return {.one = body.Fuse(last), .tolerance = kTolerance};
  }
  std::vector<TensorType> types = {Type(dtype, x), Type(dtype, w)};
  if (dice.Chance(40)) types.push_back(Type(dtype, {out}));
  return {.one = OneNode(op, types, attributes),
          .tolerance = ToleranceOf(dtype)};
}

DrawnNode DrawConv(Dice& dice) {
  const Convolution c = Draw(dice);
  return Finished(dice, kConv, Of(c.images, c.in, c.window.large),
                  Of(c.out, c.in / c.groups, c.window.kernel), c.out,
                  AttributesOf(c));
}

// The gradient by the data.
DrawnNode DrawTranspose(Dice& dice) {
  const Convolution c = Draw(dice);
  Attributes attributes = AttributesOf(c);
  Ints more;
  for (size_t axis = 0; axis < c.window.large.size(); ++axis) {
    const int64_t span = (c.window.kernel[axis] - 1) * c.window.dilations[axis];
    more.push_back(c.window.large[axis] + c.window.before[axis] +
                   c.window.after[axis] - span - 1 -
                   (c.window.small[axis] - 1) * c.window.strides[axis]);
  }
  attributes.Set("output_padding", more);
  return Finished(dice, kConvTranspose, Of(c.images, c.out, c.window.small),
                  Of(c.out, c.in / c.groups, c.window.kernel), c.in,
                  attributes);
}

DrawnNode DrawWeightGradient(Dice& dice) {
  const Convolution c = Draw(dice);
  Attributes attributes = AttributesOf(c);
  attributes.Set("kernel", c.window.kernel);
  const DType dtype = DrawType(dice);
  return {.one = OneNode(kConvWeightGradient,
                         {Type(dtype, Of(c.images, c.in, c.window.large)),
                          Type(dtype, Of(c.images, c.out, c.window.small))},
                         attributes),
          .tolerance = ToleranceOf(dtype)};
}

constexpr NodeKind kKinds[] = {
    {"convolution", DrawConv, 4},
    {"transposed convolution, gradient by the data", DrawTranspose, 4},
    {"gradient by the weights", DrawWeightGradient, 4},
};

}  // namespace

absl::Span<const NodeKind> ConvolutionKinds() { return kKinds; }

}  // namespace partita
