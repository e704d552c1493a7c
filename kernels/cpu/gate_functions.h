// Functions of f32 vectors for the gates of recurrent networks, accurate to a
// few units in the last place. NaN stays NaN.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_GATE_FUNCTIONS_H_
#define PARTITA_KERNELS_CPU_GATE_FUNCTIONS_H_

#include "kernels/cpu/softmax_line.h"
#include "kernels/vector/float_vector.h"

namespace partita {

// -|x|
[[gnu::always_inline]] inline void NegatedSize(const Vector& x,
                                               Vector& negated) {
  negated =
      reinterpret_cast<Vector>(reinterpret_cast<BitVector>(x) | 0x80000000u);
}

// 1 / (1 + e^-x), from e^-|x|.
[[gnu::always_inline]] inline void Sigmoid(Vector& x) {
  Vector power;
  NegatedSize(x, power);
  Exp(power);
  const Vector positive = 1.0f / (1.0f + power);
  const Vector negative = power * positive;
  WhereLess(x, Vector{}, negative, positive, x);
}

// From e^-2|x|; near 0, where that cancels, by a polynomial (of the Cephes
// library).
[[gnu::always_inline]] inline void Tanh(Vector& x) {
  Vector negated;
  NegatedSize(x, negated);
  Vector power = negated + negated;
  Exp(power);
  const Vector far = (1.0f - power) / (1.0f + power);
  const Vector far_signed =
      reinterpret_cast<Vector>(reinterpret_cast<BitVector>(far) |
                               (reinterpret_cast<BitVector>(x) & 0x80000000u));
  const Vector square = x * x;
  const Vector tail =
      (((-5.70498872745e-3f * square + 2.06390887954e-2f) * square -
        5.37397155531e-2f) *
           square +
       1.33314422036e-1f) *
          square -
      3.33332819422e-1f;
  const Vector near = tail * square * x + x;
  const Vector bound = Vector{} - 0.625f;
  WhereLess(bound, negated, near, far_signed, x);
}

enum class VectorFunction : uint8_t { kSigmoid, kTanh, kRelu };

[[gnu::always_inline]] inline void Apply(VectorFunction function, Vector& x) {
  switch (function) {
    case VectorFunction::kSigmoid:
      return Sigmoid(x);
    case VectorFunction::kTanh:
      return Tanh(x);
    case VectorFunction::kRelu:
      return WhereLess(x, Vector{}, Vector{}, x, x);
  }
}

// The argument is bounded by -clip and clip, unless clip is 0.
[[gnu::always_inline]] inline void ApplyClipped(VectorFunction function,
                                                float clip, Vector& x) {
  if (clip > 0) {
    const Vector high = Vector{} + clip;
    const Vector low = Vector{} - clip;
    WhereLess(high, x, high, x, x);
    WhereLess(x, low, low, x, x);
  }
  Apply(function, x);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_GATE_FUNCTIONS_H_
