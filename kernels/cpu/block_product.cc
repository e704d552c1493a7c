// Tiles of the result stay in registers while k passes: six rows of four
// vectors keep both multipliers busy with two loads for five multiplications.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/block_product.h"

#include <algorithm>

#include "kernels/cpu/float_vector.h"
#include "kernels/cpu/vector_code.h"

namespace partita {
namespace {

using Part = BlockProduct::Part;

// Rows of the right side that stay in the innermost cache while the left side's
// rows pass.
constexpr int64_t kDepth = 64;

// One tile's part of a product: `depth` is that of its sums.
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

template <int rows, int vectors>
[[gnu::always_inline]] inline void AddResult(const Tile& t,
                                             Vector (&sums)[rows][vectors]) {
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      Vector before;
      Load(t.result.at + i * t.result.row + j * kVector, before);
      sums[i][j] += before;
    }
  }
}

// Loops of constant length are unrolled, or the sums would live in memory.
template <int rows, int vectors>
[[gnu::always_inline]] inline void MultiplyTile(const Tile& t) {
  Vector sums[rows][vectors] = {};
  int64_t p = 0;
  do {
    Vector right[vectors];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      Load(t.right.at + p * t.right.row + j * kVector, right[j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      const float left = t.left.at[i * t.left.row + p * t.left.column];
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) sums[i][j] += left * right[j];
    }
  } while (++p < t.depth);
  if (t.adds) AddResult(t, sums);
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      Store(sums[i][j], t.result.at + i * t.result.row + j * kVector);
    }
  }
}

// One row of fewer columns than a vector has.
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

template <int vectors>
[[gnu::always_inline]] inline void MultiplyRows(const Tile& t, int64_t m) {
  int64_t i = 0;
  for (; i + 6 <= m; i += 6) MultiplyTile<6, vectors>(t.Rows(i));
  for (; i + 2 <= m; i += 2) MultiplyTile<2, vectors>(t.Rows(i));
  if (i < m) MultiplyTile<1, vectors>(t.Rows(i));
}

[[gnu::always_inline]] inline void MultiplyColumns(const Tile& t, int64_t m,
                                                   int64_t n) {
  int64_t j = 0;
  for (; j + 4 * kVector <= n; j += 4 * kVector) {
    MultiplyRows<4>(t.Columns(j), m);
  }
  for (; j + kVector <= n; j += kVector) MultiplyRows<1>(t.Columns(j), m);
  if (j == n) return;
  for (int64_t i = 0; i < m; ++i) MultiplyRest(t.Columns(j).Rows(i), n - j);
}

struct WholeProduct {
  [[gnu::always_inline]] static inline void Run(const BlockProduct* p) {
    Tile t = {p->left, p->right, p->result, p->k, p->adds};
    for (int64_t k = 0; k < p->k; k += kDepth) {
      t.adds = p->adds || k > 0;
      MultiplyColumns(t.Between(k, std::min(k + kDepth, p->k)), p->m, p->n);
    }
  }
};

// Six rows at a time: of what all of them count whole tiles, and of the rest
// each row by itself.
struct TriangleProduct {
  [[gnu::always_inline]] static inline void Run(const BlockProduct* p) {
    constexpr int64_t kRows = 6;
    const Tile t = {p->left, p->right, p->result, p->k, p->adds};
    const bool lower = p->part == Part::kLower;
    for (int64_t i = 0; i < p->m; i += kRows) {
      Tile rows = t.Rows(i);
      const int64_t end = std::min(i + kRows, p->m);
      const int64_t first = lower ? 0 : end;
      const int64_t last = lower ? i : p->k;
      if (first < last) {
        MultiplyColumns(rows.Between(first, last), end - i, p->n);
        rows.adds = true;
      }
      for (int64_t r = i; r < end; ++r) {
        const Tile row = rows.Rows(r - i);
        MultiplyColumns(lower ? row.Between(i, r + 1) : row.Between(r, end), 1,
                        p->n);
      }
    }
  }
};

}  // namespace

void Multiply(const BlockProduct& product) {
  if (product.part == Part::kWhole) {
    RunVectorised<WholeProduct>(&product);
  } else {
    RunVectorised<TriangleProduct>(&product);
  }
}

bool HasFusedProducts() { return HasAvx512() || HasAvx2(); }

}  // namespace partita
