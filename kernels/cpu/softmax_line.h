// Softmax, or its logarithm, of one f32 line, or of several side by side: the
// loops that kernels use. A line with NaN or plus infinity is all NaN. Sums are
// f32, in a tree that depends only on the length.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_
#define PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_

#include <cmath>
#include <cstdint>

#include "kernels/vector/float_vector.h"
#include "kernels/vector/lanes.h"

namespace partita {

// e^x for x <= 0, and 0 for minus infinity; NaN stays NaN.
template <typename Part>
[[gnu::always_inline]] inline void Exp(Part& x) {
  // ln 2 in two parts; products of the first with integers are exact. Adding
  // 1.5 * 2^23 rounds, and leaves the integer in the low bits.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440054690583e-4f;
  constexpr float kMagic = 12582912;
  const Part least = Part{} - 104.0f;
  // Bounded where e^x is 0, since underflow costs 100 cycles.
  Part bounded;
  WhereLess(x, least, Part{}, x, bounded);
  const Part shifted = bounded * 1.44269504f + kMagic;
  const Part n = shifted - kMagic;
  const Part r = (bounded - n * kLn2High) - n * kLn2Low;
  const Part tail =
      ((((1.0f / 5040 * r + 1.0f / 720) * r + 1.0f / 120) * r + 1.0f / 24) * r +
       1.0f / 6) *
          r +
      0.5f;
  const Part value = (r * r * tail + r) + 1.0f;
  // 2^n in two steps, since it may be too small for an f32.
  const BitLanesOf<Part> whole =
      reinterpret_cast<BitLanesOf<Part>>(shifted) -
      reinterpret_cast<BitLanesOf<Part>>(Part{} + kMagic);
  const BitLanesOf<Part> half = reinterpret_cast<BitLanesOf<Part>>(
      reinterpret_cast<IntLanesOf<Part>>(whole) >> 1);
  const BitLanesOf<Part> rest = whole - half;
  const Part power = value * reinterpret_cast<Part>((half + 127u) << 23) *
                     reinterpret_cast<Part>((rest + 127u) << 23);
  WhereLess(x, least, Part{}, power, x);
}

template <typename Part>
[[gnu::always_inline]] inline void Exp(Lanes<Part>& x) {
  Exp(x.low);
  if constexpr (kIsHalf<Part>) Exp(x.high);
}

// What is subtracted from, or multiplied with, all elements of a line.
template <bool logarithm>
[[gnu::always_inline]] inline float SoftmaxScale(float sum) {
  return logarithm ? static_cast<float>(std::log(static_cast<double>(sum)))
                   : 1 / sum;
}
template <bool logarithm, typename Part>
[[gnu::always_inline]] inline void SoftmaxBy(const Lanes<Part>& by,
                                             Lanes<Part>& v) {
  if constexpr (logarithm) {
    v.Subtract(by);
  } else {
    v.Scale(by);
  }
}

// Lanes of lines side by side: lane j of element i is at i * step + j.
struct SoftmaxLanes {
  const float* x;
  float* y;
  int64_t count;
  int64_t step;
  int64_t lanes;  // at most kVector
};

// Missing lanes have the least elements.
template <bool logarithm, typename Part>
struct SoftmaxColumns {
  using Sixteen = Lanes<Part>;

  [[gnu::always_inline]] static inline void Run(SoftmaxLanes l) {
    Sixteen top, sum;
    top.Fill(-HUGE_VALF);
    for (int64_t i = 0; i < l.count; ++i) {
      Sixteen v;
      v.LoadFirst(l.x + i * l.step, l.lanes, -HUGE_VALF);
      top.Raise(v);
    }
    sum.Fill(0);
    for (int64_t i = 0; i < l.count; ++i) {
      Sixteen e;
      e.LoadFirst(l.x + i * l.step, l.lanes, -HUGE_VALF);
      e.Subtract(top);
      Exp(e);
      if constexpr (!logarithm) e.StoreFirst(l.lanes, l.y + i * l.step);
      sum.Add(e);
    }
    float scales[kVector];
    sum.StoreTo(scales);
    for (float& scale : scales) scale = SoftmaxScale<logarithm>(scale);
    sum.LoadFrom(scales);
    for (int64_t i = 0; i < l.count; ++i) {
      Sixteen v;
      v.LoadFirst((logarithm ? l.x : l.y) + i * l.step, l.lanes, 0);
      if constexpr (logarithm) v.Subtract(top);
      SoftmaxBy<logarithm>(sum, v);
      v.StoreFirst(l.lanes, l.y + i * l.step);
    }
  }
};

// One line of `count` elements in strands; the rest stays in registers.
template <bool logarithm, typename Part>
struct SoftmaxLine {
  using Sixteen = Lanes<Part>;

  [[gnu::always_inline]] static inline void Run(const float* x, float* y,
                                                int64_t count) {
    const int64_t whole = count / kVector * kVector;
    const int64_t left = count - whole;
    Sixteen top, sum, by, rest;
    top.Fill(-HUGE_VALF);
    rest = top;
    RaiseBy(x, whole, top);
    if (left > 0) rest.LoadFirst(x + whole, left, -HUGE_VALF);
    top.Raise(rest);
    top.Fill(top.Greatest());
    sum.Fill(0);
    AddPowers(x, y, whole, top, sum);
    if (left > 0) {
      rest.Subtract(top);
      Sixteen e = rest;
      Exp(e);
      if constexpr (!logarithm) rest = e;
      sum.Add(e);
    }
    by.Fill(SoftmaxScale<logarithm>(sum.Sum()));
    Finish(x, y, whole, top, by);
    if (left == 0) return;
    SoftmaxBy<logarithm>(by, rest);
    rest.StoreFirst(left, y + whole);
  }

 private:
  // For `count` elements, a multiple of kVector.
  [[gnu::always_inline]] static inline void RaiseBy(const float* x,
                                                    int64_t count,
                                                    Sixteen& top) {
    for (int64_t i = 0; i < count; i += kVector) {
      Sixteen v;
      v.LoadFrom(x + i);
      top.Raise(v);
    }
  }
  [[gnu::always_inline]] static inline void AddPowers(const float* x, float* y,
                                                      int64_t count,
                                                      const Sixteen& top,
                                                      Sixteen& sum) {
    for (int64_t i = 0; i < count; i += kVector) {
      Sixteen e;
      e.LoadFrom(x + i);
      e.Subtract(top);
      Exp(e);
      if constexpr (!logarithm) e.StoreTo(y + i);
      sum.Add(e);
    }
  }
  [[gnu::always_inline]] static inline void Finish(const float* x, float* y,
                                                   int64_t count,
                                                   const Sixteen& top,
                                                   const Sixteen& by) {
    for (int64_t i = 0; i < count; i += kVector) {
      Sixteen v;
      v.LoadFrom(logarithm ? x + i : y + i);
      if constexpr (logarithm) v.Subtract(top);
      SoftmaxBy<logarithm>(by, v);
      v.StoreTo(y + i);
    }
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_SOFTMAX_LINE_H_
