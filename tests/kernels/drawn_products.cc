// Products of matrices and of batches of them, and attention.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/kernels/drawn_node.h"

namespace partita {
namespace {

constexpr int64_t kMostProducts = 400'000;
constexpr double kTolerance = 2e-4;
constexpr double kToleranceOf16Bits = 2e-2;

struct Product {
  Shape a, b;
  Attributes attributes;
};

Shape Matrix(Shape batch, int64_t rows, int64_t columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

int64_t Extent(Dice& dice) { return dice.Of<int64_t>({1, 2, 3, 5}); }

// One matrix, or batches of one or two extents; one side's may be 1.
Product Draw(Dice& dice) {
  int64_t m = dice.Length(), k = dice.Length(), n = dice.Length();
  const int64_t rank = dice.Of<int64_t>({0, 0, 0, 1, 2});
  Shape left, right;
  int64_t batch = 1;
  for (int64_t i = 0; i < rank; ++i) {
    left.push_back(Extent(dice));
    right.push_back(dice.Chance(20) ? 1 : left.back());
    batch *= left.back();
  }
  if (rank > 0 && dice.Chance(30)) right.clear();
  while (batch * m * k * n > kMostProducts) {
    (m > k ? m : k > n ? k : n) /= 2;
  }
  const bool ta = dice.Chance(30), tb = dice.Chance(30);
  return {Matrix(left, m, k, ta),
          Matrix(right, k, n, tb),
          {{"transpose_a", ta}, {"transpose_b", tb}}};
}

DrawnNode DrawMatmul(Dice& dice) {
  const Product p = Draw(dice);
  const int64_t way = dice.Below(10);
  if (way < 4) {
    DrawnBody body;
    const ValueId a = body.Input(F32(p.a)), b = body.Input(F32(p.b));
    const ValueId y = body.Add(kMatmul, {a, b}, p.attributes);
    const int last = static_cast<int>(body.dims(y).size()) - 1;
    const ValueId output = body.AddEpilogue(y, last, dice);
    return {.one = body.Fuse(output), .tolerance = kTolerance};
  }
  const DType dtype = way < 8    ? DType::kF32
                      : way == 8 ? DType::kBF16
                                 : DType::kF16;
  return {.one = OneNode(kMatmul, {Type(dtype, p.a), Type(dtype, p.b)},
                         p.attributes),
          .tolerance = dtype == DType::kF32 ? kTolerance : kToleranceOf16Bits};
}

int64_t DrawPositions(Dice& dice) {
  return dice.Of<int64_t>({1, 2, 5, 17, 63, 64, 65, 97, 130});
}

int64_t DrawHeadSize(Dice& dice) {
  return dice.Of<int64_t>({1, 3, 4, 8, 15, 16, 20, 32, 64, 80});
}

// Extents that broadcast to all scores.
Shape DrawMask(const Shape& scores, Dice& dice) {
  Shape mask = scores;
  for (int64_t& extent : mask) {
    if (dice.Chance(40)) extent = 1;
  }
  mask.erase(mask.begin(), mask.begin() + dice.Below(4));
  return mask;
}

DrawnNode DrawAttention(Dice& dice) {
  const int64_t images = dice.Between(1, 2), kv_heads = dice.Between(1, 2);
  const int64_t heads = kv_heads * dice.Of<int64_t>({1, 1, 2, 3});
  const int64_t queries = DrawPositions(dice);
  const int64_t keys = dice.Chance(50) ? queries : DrawPositions(dice);
  const int64_t size = DrawHeadSize(dice);
  const int64_t value_size = dice.Chance(70) ? size : DrawHeadSize(dice);
  const bool rows = dice.Chance(50), is_gradient = dice.Chance(50);
  const auto dims = [&](int64_t h, int64_t positions, int64_t s) {
    return rows ? Shape{images, positions, h, s}
                : Shape{images, h, positions, s};
  };
  std::vector<TensorType> types = {F32(dims(heads, queries, size)),
                                   F32(dims(kv_heads, keys, size)),
                                   F32(dims(kv_heads, keys, value_size))};
  if (is_gradient) types.push_back(F32(dims(heads, queries, value_size)));
  if (dice.Chance(40)) {
    types.push_back(F32(DrawMask({images, heads, queries, keys}, dice)));
  }
  return {.one = OneNode(is_gradient ? kAttentionGradient : kAttention, types,
                         {{"scale", 1 / std::sqrt(static_cast<double>(size))},
                          {"causal", dice.Chance(50)},
                          {"past", dice.Of<int64_t>({0, 0, 1, 40})},
                          {"softcap", dice.Of<double>({0, 0, 0, 2})},
                          {"positions_first", rows}}),
          .tolerance = 2e-5};
}

constexpr NodeKind kKinds[] = {
    {"matmul", DrawMatmul, 3},
    {"attention and its gradient", DrawAttention},
};

}  // namespace

absl::Span<const NodeKind> ProductKinds() { return kKinds; }

}  // namespace partita
