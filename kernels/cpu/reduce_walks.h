// The inner loops of cpu.reduce: how elements enter totals, and in which order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_REDUCE_WALKS_H_
#define PARTITA_KERNELS_CPU_REDUCE_WALKS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/reduce_loops.h"

// Compiled once for each instruction set, by RunVectorised (vector_code.h).
namespace partita::reduction {

// Each adds elements to a total, and joins totals; y is the other operand's
// element if it has one (kOfPairs).
struct Sum {
  static constexpr double kStart = 0;
  static constexpr bool kOfPairs = false;
  [[gnu::always_inline]] static inline double Take(double total, double x,
                                                   double) {
    return total + x;
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return a + b;
  }
};
struct SumSquares : Sum {
  [[gnu::always_inline]] static inline double Take(double total, double x,
                                                   double) {
    return total + x * x;
  }
};
struct SumProducts : Sum {
  static constexpr bool kOfPairs = true;
  [[gnu::always_inline]] static inline double Take(double total, double x,
                                                   double y) {
    return total + x * y;
  }
};
struct Max {
  static constexpr double kStart = -HUGE_VAL;
  static constexpr bool kOfPairs = false;
  [[gnu::always_inline]] static inline double Take(double total, double x,
                                                   double) {
    return Join(total, x);
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct Min {
  static constexpr double kStart = HUGE_VAL;
  static constexpr bool kOfPairs = false;
  [[gnu::always_inline]] static inline double Take(double total, double x,
                                                   double) {
    return Join(total, x);
  }
  [[gnu::always_inline]] static inline double Join(double a, double b) {
    return (a < b) | (a != a) ? a : b;
  }
};

// Results side by side, whose totals stay in a core's first-level cache; or
// strands of one result. Wide, since processors prefetch along rows but not
// from row to row.
constexpr int kLanes = 512;
constexpr int kStrands = 16;
// As many totals as fit into registers.
constexpr int kHeld = 64;
// Channels in the layouts of most reduced images.
constexpr int kBlock = 16;

// Neighbours of both operands, with elements E; for one operand, y is x.
template <typename E>
struct Pairs {
  const E* x;
  const E* y;

  [[gnu::always_inline]] inline Pairs From(int64_t offset) const {
    return {x + offset, y + offset};
  }
  template <typename J>
  [[gnu::always_inline]] inline double Take(double total,
                                            int64_t offset) const {
    const double other = J::kOfPairs ? static_cast<double>(y[offset]) : 0;
    return J::Take(total, static_cast<double>(x[offset]), other);
  }
};

// Elements [begin, end) of a chunk's `columns` results.
template <typename E>
struct Chunk {
  const ReduceLoops* loops;
  Pairs<E> first;
  int64_t begin, end;
  int columns;

  [[gnu::always_inline]] inline Pairs<E> At(int64_t element) const {
    int64_t offset = 0;
    for (size_t d = loops->reduced.size(); d-- > 0;) {
      const ReduceLoops::Dim& dim = loops->reduced[d];
      offset += element % dim.size * dim.stride;
      element /= dim.size;
    }
    return first.From(offset);
  }
};

// For each J, with this many columns or strands.
template <int width, typename... J>
struct Totals {
  [[gnu::always_inline]] inline Totals() {
    int n = 0;
    (std::fill_n(of[n++], width, J::kStart), ...);
  }
  // Adds element `offset` of the pairs, and `more` that are a step apart, at
  // position `at`.
  template <int more, typename E>
  [[gnu::always_inline]] inline void Take(Pairs<E> pairs, int64_t offset,
                                          int64_t step, int at) {
    TakeEach<more>(std::index_sequence_for<J...>(), pairs, offset, step, at);
  }
  template <int more, typename E, size_t... n>
  [[gnu::always_inline]] inline void TakeEach(std::index_sequence<n...>,
                                              Pairs<E> pairs, int64_t offset,
                                              int64_t step, int at) {
    ((of[n][at] = Taken<J, more>(of[n][at], pairs, offset, step)), ...);
  }
  template <typename One, int more, typename E>
  [[gnu::always_inline]] static inline double Taken(double total,
                                                    Pairs<E> pairs,
                                                    int64_t offset,
                                                    int64_t step) {
#pragma GCC unroll 4
    for (int row = 0; row <= more; ++row) {
      total = pairs.template Take<One>(total, offset + row * step);
    }
    return total;
  }

  double of[sizeof...(J)][width];
};

// All elements of each column, for each J at once.
template <typename E, typename... J>
struct JoinColumns {
  using Lanes = Totals<kLanes, J...>;

  [[gnu::always_inline]] static inline void Run(Chunk<E> c, Lanes* totals) {
    const ReduceLoops::Dim& inner = c.loops->reduced.back();
    Lanes lanes;
    for (int64_t at = c.begin; at < c.end;) {
      const int64_t run = std::min(inner.size - at % inner.size, c.end - at);
      const Pairs<E> pairs = c.At(at);
      switch (c.columns) {
        case kHeld / sizeof...(J):
          Rows<0>(pairs, inner.stride, run, kHeld / sizeof...(J), lanes);
          break;
        case kBlock:
          Rows<0>(pairs, inner.stride, run, kBlock, lanes);
          break;
        default: {
          const int64_t fours = run / 4 * 4;
          Rows<3>(pairs, inner.stride, fours, c.columns, lanes);
          Rows<0>(pairs.From(fours * inner.stride), inner.stride, run - fours,
                  c.columns, lanes);
        }
      }
      at += run;
    }
    for (size_t n = 0; n < sizeof...(J); ++n) {
      std::copy_n(lanes.of[n], c.columns, totals->of[n]);
    }
  }
  // Row after row, `more` additional rows for each load and store of the
  // totals.
  template <int more>
  [[gnu::always_inline]] static inline void Rows(Pairs<E> pairs, int64_t stride,
                                                 int64_t rows, int columns,
                                                 Lanes& lanes) {
    for (int64_t i = 0; i < rows; i += 1 + more) {
#pragma omp simd
      for (int j = 0; j < columns; ++j) {
        lanes.template Take<more>(pairs, i * stride + j, stride, j);
      }
    }
  }
};

// The same for one column whose elements are adjacent.
template <typename E, typename... J>
struct JoinLine {
  using Strands = Totals<kStrands, J...>;

  [[gnu::always_inline]] static inline void Run(Chunk<E> c,
                                                Totals<kLanes, J...>* totals) {
    const ReduceLoops::Dim& inner = c.loops->reduced.back();
    Strands strands;
    for (int64_t at = c.begin; at < c.end;) {
      const int64_t run = std::min(inner.size - at % inner.size, c.end - at);
      Line(c.At(at), run, strands);
      at += run;
    }
    int n = 0;
    ((totals->of[n][0] = Joined<J>(strands.of[n]), ++n), ...);
  }
  [[gnu::always_inline]] static inline void Line(Pairs<E> pairs, int64_t count,
                                                 Strands& strands) {
    int64_t i = 0;
    for (; i + kStrands <= count; i += kStrands) {
#pragma omp simd
      for (int s = 0; s < kStrands; ++s) {
        strands.template Take<0>(pairs, i + s, 0, s);
      }
    }
    for (int s = 0; i < count; ++i, ++s) {
      strands.template Take<0>(pairs, i, 0, s);
    }
  }
  template <typename One>
  [[gnu::always_inline]] static inline double Joined(double* strands) {
    for (int width = kStrands / 2; width > 0; width /= 2) {
      for (int s = 0; s < width; ++s) {
        strands[s] = One::Join(strands[s], strands[s + width]);
      }
    }
    return strands[0];
  }
};

// The same for columns whose lines of neighbours are short and reduce to a few
// elements.
template <typename E, typename... J>
struct JoinShortLines {
  using Lanes = Totals<kLanes, J...>;

  [[gnu::always_inline]] static inline void Run(Chunk<E> c, Lanes* totals) {
    const int64_t line = c.loops->reduced.back().size;
    const int64_t stride = c.loops->columns.stride;
    Lanes lanes;
    for (int64_t at = c.begin; at < c.end;) {
      const int64_t run = std::min(line - at % line, c.end - at);
      const Pairs<E> pairs = c.At(at);
      if (run == 2 && stride == 2) {
        DenseLines<2>(pairs, c.columns, lanes);
      } else if (run == 3 && stride == 3) {
        DenseLines<3>(pairs, c.columns, lanes);
      } else if (run == 4 && stride == 4) {
        DenseLines<4>(pairs, c.columns, lanes);
      } else {
        Lines(pairs, stride, run, c.columns, lanes);
      }
      at += run;
    }
    for (size_t n = 0; n < sizeof...(J); ++n) {
      std::copy_n(lanes.of[n], c.columns, totals->of[n]);
    }
  }
  template <int line>
  [[gnu::always_inline]] static inline void DenseLines(Pairs<E> pairs,
                                                       int columns,
                                                       Lanes& lanes) {
#pragma omp simd
    for (int j = 0; j < columns; ++j) {
      lanes.template Take<line - 1>(pairs, int64_t{j} * line, 1, j);
    }
  }
  [[gnu::always_inline]] static inline void Lines(Pairs<E> pairs,
                                                  int64_t stride, int64_t line,
                                                  int columns, Lanes& lanes) {
    for (int j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < line; ++i) {
        lanes.template Take<0>(pairs, j * stride + i, 0, j);
      }
    }
  }
};

}  // namespace partita::reduction

#endif  // PARTITA_KERNELS_CPU_REDUCE_WALKS_H_
