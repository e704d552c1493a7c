// Sixteen floats in registers of either width.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_LANES_H_
#define PARTITA_KERNELS_VECTOR_LANES_H_

#include <cstdint>
#include <type_traits>

#include "kernels/vector/float_vector.h"

namespace partita {

// In one register (Part = Vector) or in two (Part = HalfVector): gcc passes a
// vector that is wider than a register through memory, which stalls loops on
// their own stores. Sums have the same bits.
template <typename Part>
inline constexpr bool kIsHalf = std::is_same_v<Part, HalfVector>;

template <typename Part>
using IntLanesOf = std::conditional_t<kIsHalf<Part>, HalfIntVector, IntVector>;
template <typename Part>
using BitLanesOf = std::conditional_t<kIsHalf<Part>, HalfBitVector, BitVector>;

template <typename Part>
struct Lanes {
  struct None {};
  Part low;
  [[no_unique_address]] std::conditional_t<kIsHalf<Part>, Part, None> high;

  [[gnu::always_inline]] inline void Fill(float value) {
    low = Part{} + value;
    if constexpr (kIsHalf<Part>) high = low;
  }
  [[gnu::always_inline]] inline void LoadFrom(const float* from) {
    Load(from, low);
    if constexpr (kIsHalf<Part>) Load(from + kVector / 2, high);
  }
  [[gnu::always_inline]] inline void StoreTo(float* to) const {
    Store(low, to);
    if constexpr (kIsHalf<Part>) Store(high, to + kVector / 2);
  }
  // The first `lanes`, at most kVector; the others are `rest`, or not stored.
  [[gnu::always_inline]] inline void LoadFirst(const float* from, int64_t lanes,
                                               float rest) {
    if (lanes == kVector) return LoadFrom(from);
    float values[kVector];
    for (int64_t i = 0; i < kVector; ++i) {
      values[i] = i < lanes ? from[i] : rest;
    }
    LoadFrom(values);
  }
  [[gnu::always_inline]] inline void StoreFirst(int64_t lanes,
                                                float* to) const {
    if (lanes == kVector) return StoreTo(to);
    float values[kVector];
    StoreTo(values);
    for (int64_t i = 0; i < lanes; ++i) to[i] = values[i];
  }

  [[gnu::always_inline]] inline void Raise(const Lanes& by) {
    Greater(by.low, low, low);
    if constexpr (kIsHalf<Part>) Greater(by.high, high, high);
  }
  [[gnu::always_inline]] inline void Add(const Lanes& other) {
    low += other.low;
    if constexpr (kIsHalf<Part>) high += other.high;
  }
  [[gnu::always_inline]] inline void Subtract(const Lanes& other) {
    low -= other.low;
    if constexpr (kIsHalf<Part>) high -= other.high;
  }
  [[gnu::always_inline]] inline void Scale(const Lanes& by) {
    low *= by.low;
    if constexpr (kIsHalf<Part>) high *= by.high;
  }
  // Over all lanes: the sum, computed by halves; the maximum, if none is NaN.
  [[gnu::always_inline]] inline float Sum() const {
    Part sum = low;
    if constexpr (kIsHalf<Part>) sum += high;
    SumLanes(sum);
    return sum[0];
  }
  [[gnu::always_inline]] inline float Greatest() const {
    Part top = low;
    if constexpr (kIsHalf<Part>) Greater(high, top, top);
    GreatestLane(top);
    return top[0];
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_LANES_H_
