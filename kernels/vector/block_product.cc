// Tiles of the result stay in registers while k advances: six rows of as many
// vectors as the processor's registers hold (Wide, Narrow). Four rows keep both
// multipliers busy with two loads for five multiplications.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/vector/block_product.h"

#include <algorithm>

#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

using Part = BlockProduct::Part;

// Rows of the right side that stay in the first-level cache while the left
// side's rows pass.
constexpr int64_t kDepth = 64;

// 32 registers of 16 floats.
struct Wide {
  using Floats = Vector;
  static constexpr int kVectors = 4;
};
// 16 registers of 8 floats: a vector of two registers would be kept in memory.
struct Narrow {
  using Floats = HalfVector;
  static constexpr int kVectors = 2;
};

// For a product of one row, in both.
constexpr int kRowVectors = 8;

template <typename Floats>
inline constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);

// One tile's part of a product; `depth` is the number of its terms.
struct Tile {
  BlockProduct::Left left;
  BlockProduct::Right right;
  BlockProduct::Result result;
  int64_t depth;
  bool adds;

  [[gnu::always_inline]] Tile Rows(int64_t i) const {
    Tile tile = *this;
    tile.left.at += i * left.row;
    tile.result.at += i * result.row;
    return tile;
  }
  [[gnu::always_inline]] Tile Columns(int64_t j) const {
    Tile tile = *this;
    tile.right.at += j;
    tile.result.at += j;
    return tile;
  }
  // Sums over [begin, end) only.
  [[gnu::always_inline]] Tile Between(int64_t begin, int64_t end) const {
    Tile tile = *this;
    tile.left.at += begin * left.column;
    tile.right.at += begin * right.row;
    tile.depth = end - begin;
    return tile;
  }
};

// sums += left times right at depth p, for rows [first, last). Loops of
// constant length are unrolled, otherwise the sums would be kept in memory.
template <int first, int last, typename Floats, int rows, int vectors>
[[gnu::always_inline]] inline void AddProducts(const Tile& t, int64_t p,
                                               Floats (&sums)[rows][vectors]) {
  Floats right[vectors];
#pragma GCC unroll 8
  for (int j = 0; j < vectors; ++j) {
    Load(t.right.at + p * t.right.row + j * kLanes<Floats>, right[j]);
  }
#pragma GCC unroll 8
  for (int i = first; i < last; ++i) {
    const float left = t.left.at[i * t.left.row + p * t.left.column];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) sums[i][j] += left * right[j];
  }
}

// The square on the diagonal, from depth `begin`: one step for each of its
// rows.
template <Part part, int step = 0, typename Floats, int rows, int vectors>
[[gnu::always_inline]] inline void AddDiagonal(const Tile& t, int64_t begin,
                                               Floats (&sums)[rows][vectors]) {
  if constexpr (step < rows) {
    constexpr int kFirst = part == Part::kLower ? step : 0;
    constexpr int kLast = part == Part::kLower ? rows : step + 1;
    AddProducts<kFirst, kLast>(t, begin + step, sums);
    AddDiagonal<part, step + 1>(t, begin, sums);
  }
}

template <typename Floats, int rows, int vectors>
[[gnu::always_inline]] inline void AddResult(const Tile& t,
                                             Floats (&sums)[rows][vectors]) {
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      Floats before;
      Load(t.result.at + i * t.result.row + j * kLanes<Floats>, before);
      sums[i][j] += before;
    }
  }
}

// A triangle's tile has its square last (kLower) or first (kUpper).
template <Part part, typename Floats, int rows, int vectors>
[[gnu::always_inline]] inline void MultiplyTile(const Tile& t) {
  Floats sums[rows][vectors] = {};
  int64_t p = 0;
  int64_t end = t.depth;
  if constexpr (part == Part::kLower) end -= rows;
  if constexpr (part == Part::kUpper) {
    AddDiagonal<part>(t, 0, sums);
    p = rows;
  }
  for (; p < end; ++p) AddProducts<0, rows>(t, p, sums);
  if constexpr (part == Part::kLower) AddDiagonal<part>(t, end, sums);
  if (t.adds) AddResult(t, sums);
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      Store(sums[i][j], t.result.at + i * t.result.row + j * kLanes<Floats>);
    }
  }
}

// Rows [i, i + rows), over the part of their depth that counts.
template <Part part, int rows>
[[gnu::always_inline]] inline Tile RowsOf(const Tile& t, int64_t i) {
  const Tile tile = t.Rows(i);
  if constexpr (part == Part::kLower) return tile.Between(0, i + rows);
  if constexpr (part == Part::kUpper) return tile.Between(i, t.depth);
  return tile;
}

// One row with fewer columns than a vector.
[[gnu::always_inline]] inline void MultiplyRest(const Tile& t,
                                                int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    float sum = 0;
    for (int64_t p = 0; p < t.depth; ++p) {
      sum += t.left.at[p * t.left.column] * t.right.at[p * t.right.row + j];
    }
    t.result.at[j] = t.adds ? t.result.at[j] + sum : sum;
  }
}

template <Part part, typename Floats, int vectors>
[[gnu::always_inline]] inline void MultiplyRows(const Tile& t, int64_t m) {
  int64_t i = 0;
  for (; i + 6 <= m; i += 6) {
    MultiplyTile<part, Floats, 6, vectors>(RowsOf<part, 6>(t, i));
  }
  if (i + 4 <= m) {
    MultiplyTile<part, Floats, 4, vectors>(RowsOf<part, 4>(t, i));
    i += 4;
  }
  if (i + 2 <= m) {
    MultiplyTile<part, Floats, 2, vectors>(RowsOf<part, 2>(t, i));
    i += 2;
  }
  if (i < m) MultiplyTile<part, Floats, 1, vectors>(RowsOf<part, 1>(t, i));
}

template <Part part, typename Width>
[[gnu::always_inline]] inline void MultiplyColumns(const Tile& t, int64_t m,
                                                   int64_t n) {
  using Floats = typename Width::Floats;
  constexpr int64_t kStep = Width::kVectors * kLanes<Floats>;
  int64_t j = 0;
  // A single row keeps too few sums in flight.
  constexpr int64_t kLongStep = kRowVectors * kLanes<Floats>;
  for (; m == 1 && j + kLongStep <= n; j += kLongStep) {
    MultiplyTile<part, Floats, 1, kRowVectors>(
        RowsOf<part, 1>(t.Columns(j), 0));
  }
  for (; j + kStep <= n; j += kStep) {
    MultiplyRows<part, Floats, Width::kVectors>(t.Columns(j), m);
  }
  for (; j + kLanes<Floats> <= n; j += kLanes<Floats>) {
    MultiplyRows<part, Floats, 1>(t.Columns(j), m);
  }
  if (j == n) return;
  for (int64_t i = 0; i < m; ++i) {
    MultiplyRest(RowsOf<part, 1>(t.Columns(j), i), n - j);
  }
}

template <typename Width>
struct WholeProduct {
  [[gnu::always_inline]] static inline void Run(const BlockProduct* p) {
    Tile t = {p->left, p->right, p->result, p->k, p->adds};
    for (int64_t k = 0; k < p->k; k += kDepth) {
      t.adds = p->adds || k > 0;
      MultiplyColumns<Part::kWhole, Width>(
          t.Between(k, std::min(k + kDepth, p->k)), p->m, p->n);
    }
  }
};

template <Part part, typename Width>
struct TriangleProduct {
  [[gnu::always_inline]] static inline void Run(const BlockProduct* p) {
    const Tile t = {p->left, p->right, p->result, p->k, p->adds};
    MultiplyColumns<part, Width>(t, p->m, p->n);
  }
};

template <Part part>
void MultiplyTriangle(const BlockProduct* p) {
  RunByWidth<TriangleProduct<part, Wide>, TriangleProduct<part, Narrow>>(p);
}

}  // namespace

void Multiply(const BlockProduct& product) {
  switch (product.part) {
    case Part::kWhole:
      return RunByWidth<WholeProduct<Wide>, WholeProduct<Narrow>>(&product);
    case Part::kLower:
      return MultiplyTriangle<Part::kLower>(&product);
    case Part::kUpper:
      return MultiplyTriangle<Part::kUpper>(&product);
  }
}

// Compilers fuse the two only with optimization, so this is tested at run time:
// rounding the product separately loses 2^-24.
bool HasFusedProducts() {
  static const bool has = [] {
    constexpr float kFactor = 1 + 0x1p-12f;
    const float left[] = {1, kFactor};
    float right[2][kVector], sums[kVector];
    std::fill_n(right[0], kVector, -(1 + 0x1p-11f));
    std::fill_n(right[1], kVector, kFactor);
    Multiply({.left = {left, 2, 1},
              .right = {right[0], kVector},
              .result = {sums, kVector},
              .m = 1,
              .n = kVector,
              .k = 2});
    return sums[0] != 0;
  }();
  return has;
}

}  // namespace partita
