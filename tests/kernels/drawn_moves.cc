// Moves of elements: by extents, by steps and by indices.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/kernels/drawn_node.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

DType DrawType(Dice& dice) {
  return dice.Of<DType>({DType::kI8, DType::kBF16, DType::kF32, DType::kF32,
                         DType::kF32, DType::kI64});
}

Shape DrawShape(Dice& dice, int64_t rank) {
  Shape dims;
  for (int64_t i = 0; i < rank; ++i) {
    dims.push_back(rank >= 3 && i == 1 ? dice.Channels() : dice.Between(1, 9));
  }
  if (dice.Chance(15))
    dims[dice.Below(rank)] = dice.Of<int64_t>({33, 129, 300});
  return dims;
}

int64_t DrawRank(Dice& dice) { return dice.Of<int64_t>({1, 2, 3, 4, 4, 4, 5}); }

DrawnNode DrawTranspose(Dice& dice) {
  const int64_t rank = DrawRank(dice);
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  for (int64_t i = rank; i > 1; --i)
    std::swap(perm[i - 1], perm[dice.Below(i)]);
  return {.one =
              OneNode(kTranspose, {Type(DrawType(dice), DrawShape(dice, rank))},
                      {{"perm", perm}})};
}

DrawnNode DrawSlice(Dice& dice) {
  const int64_t rank = DrawRank(dice);
  const Shape x = DrawShape(dice, rank);
  Ints starts, sizes, steps;
  for (int64_t extent : x) {
    const int64_t step = dice.Chance(60) ? 1 : dice.Of<int64_t>({2, 3, -1, -2});
    const int64_t start =
        dice.Chance(40) ? (step > 0 ? 0 : extent - 1) : dice.Below(extent);
    const int64_t room = step > 0 ? extent - start : start + 1;
    const int64_t most = (room + std::abs(step) - 1) / std::abs(step);
    starts.push_back(start);
    steps.push_back(step);
    sizes.push_back(dice.Chance(50) ? most : dice.Between(1, most));
  }
  return {
      .one = OneNode(kSlice, {Type(DrawType(dice), x)},
                     {{"starts", starts}, {"sizes", sizes}, {"steps", steps}})};
}

DrawnNode DrawPad(Dice& dice) {
  const int64_t rank = DrawRank(dice);
  const Shape x = DrawShape(dice, rank);
  Ints before, after;
  for (int64_t extent : x) {
    before.push_back(dice.Chance(50) ? 0 : dice.Between(0, 3));
    after.push_back(dice.Chance(50) ? 0 : dice.Between(1 - extent, 3));
  }
  Attributes attributes = {{"before", before}, {"after", after}};
  if (dice.Chance(40)) attributes.Set("value", Number(3));
  return {.one = OneNode(kPad, {Type(DrawType(dice), x)}, attributes)};
}

DrawnNode DrawConcatOrSplit(Dice& dice) {
  const int64_t rank = DrawRank(dice), axis = dice.Below(rank);
  const DType dtype = DrawType(dice);
  Shape x = DrawShape(dice, rank);
  const int64_t parts = dice.Between(1, 3);
  std::vector<TensorType> types;
  Ints sizes;
  for (int64_t i = 0; i < parts; ++i) {
    x[axis] = axis == 1 ? dice.Channels() : dice.Between(1, 9);
    sizes.push_back(x[axis]);
    types.push_back(Type(dtype, x));
  }
  if (dice.Chance(60))
    return {.one = OneNode(kConcat, types, {{"axis", axis}})};
  x[axis] = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  return {.one = OneNode(kSplit, {Type(dtype, x)},
                         {{"axis", axis}, {"sizes", sizes}})};
}

DrawnNode DrawRepeats(Dice& dice) {
  const int64_t rank = DrawRank(dice);
  Shape x = DrawShape(dice, rank);
  const DType dtype = DrawType(dice);
  if (dice.Chance(50)) {
    Ints repeats;
    for (int64_t i = 0; i < rank; ++i) {
      repeats.push_back(dice.Chance(70) ? 1 : dice.Between(2, 3));
    }
    return {.one = OneNode(kTile, {Type(dtype, x)}, {{"repeats", repeats}})};
  }
  const Ints shape(x.begin(), x.end());
  for (int64_t& extent : x) {
    if (dice.Chance(50)) extent = 1;
  }
  return {.one = OneNode(kExpand, {Type(dtype, x)}, {{"shape", shape}})};
}

DrawnNode DrawDepthOrSpace(Dice& dice) {
  const int64_t block = dice.Between(1, 3), channels = dice.Between(1, 17);
  const int64_t h = dice.Between(1, 9), w = dice.Between(1, 9);
  const DType dtype = DrawType(dice);
  const Attributes attributes = {
      {"block", block}, {"mode", std::string(dice.Chance(50) ? "dcr" : "crd")}};
  if (dice.Chance(50)) {
    return {.one = OneNode(kDepthToSpace,
                           {Type(dtype, {2, channels * block * block, h, w})},
                           attributes)};
  }
  return {.one = OneNode(kSpaceToDepth,
                         {Type(dtype, {2, channels, h * block, w * block})},
                         {{"block", block}})};
}

std::unique_ptr<HostTensor> DrawIndices(Dice& dice, const Shape& dims,
                                        int64_t extent) {
  const DType dtype = dice.Chance(50) ? DType::kI64 : DType::kI32;
  auto indices = std::make_unique<HostTensor>(Type(dtype, dims));
  for (int64_t i = 0; i < indices->type().num_elements(); ++i) {
    SetFromDouble(*indices, i,
                  static_cast<double>(dice.Between(-extent, extent - 1)));
  }
  return indices;
}

DrawnNode WithIndices(const OpDef& op, TensorType x,
                      std::unique_ptr<HostTensor> indices,
                      std::vector<TensorType> more, Attributes attributes) {
  std::vector<TensorType> types = {std::move(x), indices->type()};
  types.insert(types.end(), more.begin(), more.end());
  DrawnNode drawn{.one = OneNode(op, types, std::move(attributes))};
  drawn.given.emplace_back();
  drawn.given.push_back(std::move(indices));
  return drawn;
}

DrawnNode DrawGather(Dice& dice) {
  const int64_t rank = dice.Between(1, 4), axis = dice.Below(rank);
  const Shape x = DrawShape(dice, rank);
  const Shape count = dice.Chance(50) ? Shape{dice.Between(1, 9)}
                                      : Shape{2, dice.Between(1, 5)};
  auto indices = DrawIndices(dice, count, x[axis]);
  if (dice.Chance(60)) {
    return WithIndices(kGather, Type(DrawType(dice), x), std::move(indices), {},
                       {{"axis", axis}});
  }
  Shape dy = x;
  dy.erase(dy.begin() + axis);
  dy.insert(dy.begin() + axis, count.begin(), count.end());
  return WithIndices(kGatherGradient, F32(dy), std::move(indices), {},
                     {{"axis", axis}, {"extent", x[axis]}});
}

DrawnNode DrawGatherElements(Dice& dice) {
  const int64_t rank = dice.Between(1, 4), axis = dice.Below(rank);
  const Shape x = DrawShape(dice, rank);
  Shape picked = x;
  picked[axis] = dice.Between(1, 9);
  auto indices = DrawIndices(dice, picked, x[axis]);
  if (dice.Chance(50)) {
    return WithIndices(kGatherElements, Type(DrawType(dice), x),
                       std::move(indices), {}, {{"axis", axis}});
  }
  const bool adds = dice.Chance(50);
  const DType dtype = adds ? DType::kF32 : DrawType(dice);
  return WithIndices(
      kScatterElements, Type(dtype, x), std::move(indices),
      {Type(dtype, picked)},
      {{"axis", axis}, {"reduction", std::string(adds ? "add" : "none")}});
}

DrawnNode DrawMade(Dice& dice) {
  const Shape dims = DrawShape(dice, DrawRank(dice));
  const Ints shape(dims.begin(), dims.end());
  if (dice.Chance(50)) {
    return {.one = OneNode(kFill, {},
                           {{"dtype", DrawType(dice)},
                            {"shape", shape},
                            {"value", Number(3)}})};
  }
  const TensorType word = Type(DType::kU64, {});
  return {.one = OneNode(kRandomUniform, {word, word},
                         {{"shape", shape}, {"id", int64_t{3}}})};
}

DrawnNode DrawCast(Dice& dice) {
  const DType half = dice.Chance(50) ? DType::kBF16 : DType::kF16;
  const bool widens = dice.Chance(50);
  return {.one = OneNode(kCast,
                         {Type(widens ? half : DType::kF32,
                               DrawShape(dice, DrawRank(dice)))},
                         {{"to", widens ? DType::kF32 : half}})};
}

constexpr NodeKind kKinds[] = {
    {"transpose", DrawTranspose},
    {"slice", DrawSlice},
    {"pad", DrawPad},
    {"concat, split", DrawConcatOrSplit},
    {"tile, expand", DrawRepeats},
    {"depth to space, space to depth", DrawDepthOrSpace},
    {"gather and its gradient", DrawGather},
    {"gather and scatter of elements", DrawGatherElements},
    {"fill, random numbers", DrawMade},
    {"cast", DrawCast},
};

}  // namespace

absl::Span<const NodeKind> MoveKinds() { return kKinds; }

}  // namespace partita
