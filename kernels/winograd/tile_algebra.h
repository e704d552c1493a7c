// The matrices of Winograd's F(4x4, 3x3), each as a function of a line. For a
// tile it is applied to columns and then to rows. The names are those of Lavin
// and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015):
//
//   result = A' [(G weights G') * (B' source B)] A
//
// and, since each step is linear, the gradient by the weights:
//
//   dweights = G' [(A dresult A') * (B' source B)] G
//
// A and B are applied with factors that are powers of two.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_TILE_ALGEBRA_H_
#define PARTITA_KERNELS_WINOGRAD_TILE_ALGEBRA_H_

#include <cstdint>

#include "kernels/vector/float_vector.h"

namespace partita {

// B': six elements of the source, which are four and their window's border.
struct SourceTaps {
  template <typename Floats>
  [[gnu::always_inline]] static inline void Run(const Floats (&d)[6],
                                                Floats (&t)[6]) {
    const Floats even = d[4] - 4.0f * d[2], odd = d[3] - 4.0f * d[1];
    const Floats wide = d[4] - d[2], step = d[3] - d[1];
    t[0] = wide + 4.0f * (d[0] - d[2]);
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = wide + 2.0f * step;
    t[4] = wide - 2.0f * step;
    t[5] = (d[5] - d[3]) - 4.0f * step;
  }
};

// G: three weights.
struct WeightTaps {
  template <typename Floats>
  [[gnu::always_inline]] static inline void Run(const Floats (&g)[3],
                                                Floats (&t)[6]) {
    const Floats outer = (-1.0f / 6) * (g[0] + g[2]);
    const Floats middle = (1.0f / 6) * g[1];
    const Floats mixed = (1.0f / 24) * g[0] + (1.0f / 6) * g[2];
    const Floats half = (1.0f / 12) * g[1];
    t[0] = 0.25f * g[0];
    t[1] = outer - middle;
    t[2] = outer + middle;
    t[3] = mixed + half;
    t[4] = mixed - half;
    t[5] = g[2];
  }
};

// A': four elements of the result.
struct ResultOfTaps {
  template <typename Floats>
  [[gnu::always_inline]] static inline void Run(const Floats (&t)[6],
                                                Floats (&y)[4]) {
    const Floats sum = t[1] + t[2], difference = t[1] - t[2];
    const Floats far_sum = t[3] + t[4], far_difference = t[3] - t[4];
    y[0] = (t[0] + sum) + far_sum;
    y[1] = difference + 2.0f * far_difference;
    y[2] = sum + 4.0f * far_sum;
    y[3] = (difference + 8.0f * far_difference) + t[5];
  }
};

// A: four elements of the result's gradient.
struct ResultGradientTaps {
  template <typename Floats>
  [[gnu::always_inline]] static inline void Run(const Floats (&y)[4],
                                                Floats (&t)[6]) {
    const Floats even = y[0] + y[2], odd = y[1] + y[3];
    const Floats far_even = y[0] + 4.0f * y[2];
    const Floats half_odd = y[1] + 4.0f * y[3];
    t[0] = y[0];
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = far_even + 2.0f * half_odd;
    t[4] = far_even - 2.0f * half_odd;
    t[5] = y[3];
  }
};

// G': the gradients of three weights.
struct WeightGradientOfTaps {
  template <typename Floats>
  [[gnu::always_inline]] static inline void Run(const Floats (&t)[6],
                                                Floats (&g)[3]) {
    const Floats sum = (1.0f / 6) * (t[1] + t[2]);
    const Floats difference = (1.0f / 6) * (t[2] - t[1]);
    const Floats far_sum = t[3] + t[4], far_difference = t[3] - t[4];
    g[0] = (0.25f * t[0] - sum) + (1.0f / 24) * far_sum;
    g[1] = difference + (1.0f / 12) * far_difference;
    g[2] = ((1.0f / 6) * far_sum - sum) + t[5];
  }
};

// Applies Line to the columns of a square of `from` elements a side, whose
// element (i, j) is at at[i * down + j * across], and then to the rows of the
// result.
template <typename Line, int from, typename Floats, int to>
[[gnu::always_inline]] inline void ApplyBothWays(const float* at, int64_t down,
                                                 int64_t across,
                                                 Floats (&result)[to][to]) {
  Floats half[to][from];
#pragma GCC unroll 6
  for (int j = 0; j < from; ++j) {
    Floats column[from], applied[to];
#pragma GCC unroll 6
    for (int i = 0; i < from; ++i) Load(at + i * down + j * across, column[i]);
    Line::Run(column, applied);
#pragma GCC unroll 6
    for (int i = 0; i < to; ++i) half[i][j] = applied[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < to; ++i) Line::Run(half[i], result[i]);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_TILE_ALGEBRA_H_
