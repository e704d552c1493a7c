// Softmax, or its logarithm, of one line of f32, or of several side by side:
// the loops that kernels make of it. A line with a NaN or plus infinity is NaN
// all over. Sums are in f32, in a tree that depends on the length only.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_
#define PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_

#include <cmath>
#include <cstdint>

#include "kernels/vector/float_vector.h"

namespace partita {

// e^x for x <= 0, and 0 for minus infinity; a NaN stays.
[[gnu::always_inline]] inline void Exp(Vector& x) {
  // ln 2 in two parts, the first of which has exact products with integers;
  // adding 1.5 * 2^23 rounds, and leaves the integer in the low bits.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440054690583e-4f;
  constexpr float kMagic = 12582912;
  const Vector least = Vector{} - 104.0f;
  // Where e^x is 0 nothing underflows, which costs a processor 100 cycles.
  Vector bounded;
  WhereLess(x, least, Vector{}, x, bounded);
  const Vector shifted = bounded * 1.44269504f + kMagic;
  const Vector n = shifted - kMagic;
  const Vector r = (bounded - n * kLn2High) - n * kLn2Low;
  const Vector tail =
      ((((1.0f / 5040 * r + 1.0f / 720) * r + 1.0f / 120) * r + 1.0f / 24) * r +
       1.0f / 6) *
          r +
      0.5f;
  const Vector value = (r * r * tail + r) + 1.0f;
  // 2^n in two steps: alone it may be too small for an f32.
  const BitVector whole = reinterpret_cast<BitVector>(shifted) -
                          reinterpret_cast<BitVector>(Vector{} + kMagic);
  const BitVector half =
      reinterpret_cast<BitVector>(reinterpret_cast<IntVector>(whole) >> 1);
  const BitVector rest = whole - half;
  const Vector power = value * reinterpret_cast<Vector>((half + 127u) << 23) *
                       reinterpret_cast<Vector>((rest + 127u) << 23);
  WhereLess(x, least, Vector{}, power, x);
}

// Lanes of a line, or of lines side by side: lane j of element i lies at
// i * step + j.
struct SoftmaxLanes {
  const float* x;
  float* y;
  int64_t count;
  int64_t step;
  int64_t lanes;  // at most kVector

  // Of lanes that are not there: the least.
  [[gnu::always_inline]] void LoadAt(int64_t i, Vector& v) const {
    LoadLanes(x + i * step, lanes, -HUGE_VALF, v);
  }
};

[[gnu::always_inline]] inline void TopOf(const SoftmaxLanes& l, Vector& top) {
  for (int64_t i = 0; i < l.count; ++i) {
    Vector x;
    l.LoadAt(i, x);
    Greater(x, top, top);
  }
}

// Adds e^(x - top), and stores it if asked to.
template <bool stores>
[[gnu::always_inline]] inline void SumOf(const SoftmaxLanes& l,
                                         const Vector& top, Vector& sum) {
  for (int64_t i = 0; i < l.count; ++i) {
    Vector e;
    l.LoadAt(i, e);
    e -= top;
    Exp(e);
    if constexpr (stores) StoreLanes(e, l.lanes, l.y + i * l.step);
    sum += e;
  }
}

// From x and the logarithms of sums, or from what SumOf stored and the sums.
template <bool logarithm>
[[gnu::always_inline]] inline void FinishSoftmax(const SoftmaxLanes& l,
                                                 const Vector& top,
                                                 const Vector& by) {
  for (int64_t i = 0; i < l.count; ++i) {
    Vector value;
    if constexpr (logarithm) {
      l.LoadAt(i, value);
      value = (value - top) - by;
    } else {
      LoadLanes(l.y + i * l.step, l.lanes, 0, value);
      value *= by;
    }
    StoreLanes(value, l.lanes, l.y + i * l.step);
  }
}

// What all elements of a line have subtracted, or are multiplied by.
template <bool logarithm>
[[gnu::always_inline]] inline float SoftmaxScale(float sum) {
  return logarithm ? static_cast<float>(std::log(static_cast<double>(sum)))
                   : 1 / sum;
}

// Several lines side by side.
template <bool logarithm>
struct SoftmaxColumns {
  [[gnu::always_inline]] static inline void Run(SoftmaxLanes l) {
    Vector top = Vector{} - HUGE_VALF;
    Vector sum = {};
    TopOf(l, top);
    SumOf<!logarithm>(l, top, sum);
    for (int64_t j = 0; j < kVector; ++j) {
      sum[j] = SoftmaxScale<logarithm>(sum[j]);
    }
    FinishSoftmax<logarithm>(l, top, sum);
  }
};

// One line of `count` elements in strands, and a rest that is none.
template <bool logarithm>
struct SoftmaxLine {
  [[gnu::always_inline]] static inline void Run(const float* x, float* y,
                                                int64_t count) {
    const SoftmaxLanes whole = {x, y, count / kVector, kVector, kVector};
    const int64_t done = whole.count * kVector;
    const int64_t left = count - done;
    const SoftmaxLanes rest = {x + done, y + done, left > 0, kVector, left};
    Vector top = Vector{} - HUGE_VALF;
    Vector sum = {};
    TopOf(whole, top);
    TopOf(rest, top);
    GreatestLane(top);
    SumOf<!logarithm>(whole, top, sum);
    SumOf<!logarithm>(rest, top, sum);
    SumLanes(sum);
    sum = Vector{} + SoftmaxScale<logarithm>(sum[0]);
    FinishSoftmax<logarithm>(whole, top, sum);
    FinishSoftmax<logarithm>(rest, top, sum);
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_
