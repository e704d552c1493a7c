// Vectors of sixteen floats.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_VECTOR_FLOAT_VECTOR_H_
#define PARTITA_KERNELS_VECTOR_FLOAT_VECTOR_H_

#include <cstdint>
#include <cstring>
#include <utility>

namespace partita {

inline constexpr int64_t kVector = 16;
// One register, or several of a processor with narrower ones. Compilers do not
// vectorize nested loops over arrays of floats reliably. Passed by reference,
// since the convention for passing such values depends on the processor.
typedef float Vector __attribute__((vector_size(kVector * sizeof(float))));
typedef float HalfVector __attribute__((vector_size(sizeof(Vector) / 2)));
typedef int32_t IntVector __attribute__((vector_size(sizeof(Vector))));
typedef uint32_t BitVector __attribute__((vector_size(sizeof(Vector))));
typedef int32_t HalfIntVector __attribute__((vector_size(sizeof(HalfVector))));
typedef uint32_t HalfBitVector __attribute__((vector_size(sizeof(HalfVector))));

// From and to any address.
template <typename Floats>
[[gnu::always_inline]] inline void Load(const float* from, Floats& to) {
  std::memcpy(&to, from, sizeof(Floats));
}

template <typename Floats>
[[gnu::always_inline]] inline void Store(const Floats& from, float* to) {
  std::memcpy(to, &from, sizeof(Floats));
}

// Bypasses the caches, to an address that is a multiple of 64, so that the line
// is not read before it is written. Only if a register has 16 floats
// (RunAvx512). In assembly, since the compiler refuses its own intrinsic in
// code that other processors run too. Other threads may read the result only
// after this thread has called FinishStreaming.
[[gnu::always_inline]] inline void StoreStreaming(const Vector& from,
                                                  float* to) {
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<Vector*>(to)) : "v"(from));
}
inline void FinishStreaming() { __builtin_ia32_sfence(); }

// A bit for each lane that exists. Missing lanes are neither read nor written,
// and are 0. From and to any address; only in RunAvx512, and in assembly as
// above.
using LaneMask = uint16_t;
[[gnu::always_inline]] inline LaneMask FirstLanes(size_t count) {
  return static_cast<LaneMask>((uint32_t{1} << count) - 1);
}
[[gnu::always_inline]] inline void LoadMasked(const void* from, LaneMask there,
                                              Vector& to) {
  asm("vmovups (%1), %0%{%2%}%{z%}"
      : "=v"(to)
      : "r"(from), "Yk"(there)
      : "memory");
}
[[gnu::always_inline]] inline void StoreMasked(const Vector& from,
                                               LaneMask there, void* to) {
  asm volatile("vmovups %0, (%1)%{%2%}"
               :
               : "v"(from), "r"(to), "Yk"(there)
               : "memory");
}

// The first `lanes`, at most kVector; the others are `rest`, or not stored.
[[gnu::always_inline]] inline void LoadLanes(const float* from, int64_t lanes,
                                             float rest, Vector& to) {
  if (lanes == kVector) return Load(from, to);
  float values[kVector];
  for (int64_t i = 0; i < kVector; ++i) values[i] = i < lanes ? from[i] : rest;
  Load(values, to);
}

[[gnu::always_inline]] inline void StoreLanes(const Vector& from, int64_t lanes,
                                              float* to) {
  if (lanes == kVector) return Store(from, to);
  float values[kVector];
  Store(from, values);
  for (int64_t i = 0; i < lanes; ++i) to[i] = values[i];
}

// Selects one or the other for each lane. Loops, since compilers split a
// comparison of vectors wider than a register into sixteen.
[[gnu::always_inline]] inline void WhereLess(const Vector& a, const Vector& b,
                                             const Vector& less,
                                             const Vector& other,
                                             Vector& chosen) {
  Vector values;
  for (int i = 0; i < kVector; ++i) {
    values[i] = a[i] < b[i] ? less[i] : other[i];
  }
  chosen = values;
}

// A half is no wider than the registers for which its loops are compiled.
[[gnu::always_inline]] inline void WhereLess(const HalfVector& a,
                                             const HalfVector& b,
                                             const HalfVector& less,
                                             const HalfVector& other,
                                             HalfVector& chosen) {
  chosen = a < b ? less : other;
}

// Lanes after the first `lanes` become `rest`.
[[gnu::always_inline]] inline void KeepLanes(Vector& v, int64_t lanes,
                                             float rest) {
  const int32_t kept = static_cast<int32_t>(lanes);
  for (int32_t i = 0; i < kVector; ++i) v[i] = i < kept ? v[i] : rest;
}

// Lane i becomes lane i + distance, modulo the number of lanes.
template <int distance, int... lane>
[[gnu::always_inline]] inline void RotateLanes(
    const Vector& from, Vector& to, std::integer_sequence<int, lane...>) {
  constexpr int kLanes = static_cast<int>(kVector);
  to = __builtin_shuffle(from, IntVector{(lane + distance) % kLanes...});
}
template <int distance, int... lane>
[[gnu::always_inline]] inline void RotateLanes(
    const HalfVector& from, HalfVector& to,
    std::integer_sequence<int, lane...>) {
  constexpr int kLanes = static_cast<int>(kVector / 2);
  to = __builtin_shuffle(from, HalfIntVector{(lane + distance) % kLanes...});
}
template <int distance, typename Floats>
[[gnu::always_inline]] inline void RotateLanes(const Floats& from, Floats& to) {
  constexpr int kLanes = static_cast<int>(sizeof(Floats) / sizeof(float));
  RotateLanes<distance>(from, to, std::make_integer_sequence<int, kLanes>());
}

// All lanes become the sum of all, computed by halves.
template <typename Floats>
[[gnu::always_inline]] inline void SumLanes(Floats& v) {
  Floats other;
  if constexpr (sizeof(Floats) == sizeof(Vector)) {
    RotateLanes<8>(v, other);
    v += other;
  }
  RotateLanes<4>(v, other);
  v += other;
  RotateLanes<2>(v, other);
  v += other;
  RotateLanes<1>(v, other);
  v += other;
}

// The larger of both; `b` if either is NaN.
template <typename Floats>
[[gnu::always_inline]] inline void Greater(const Floats& a, const Floats& b,
                                           Floats& greater) {
  WhereLess(b, a, a, b, greater);
}

// All lanes become the maximum; none may be NaN.
template <typename Floats>
[[gnu::always_inline]] inline void GreatestLane(Floats& v) {
  Floats other;
  if constexpr (sizeof(Floats) == sizeof(Vector)) {
    RotateLanes<8>(v, other);
    Greater(v, other, v);
  }
  RotateLanes<4>(v, other);
  Greater(v, other, v);
  RotateLanes<2>(v, other);
  Greater(v, other, v);
  RotateLanes<1>(v, other);
  Greater(v, other, v);
}

// For rows i with bit `distance` clear: swaps their lanes that have the bit
// with the lanes of row i + distance that do not.
template <int distance, int... lane>
[[gnu::always_inline]] inline void ExchangeLanes(
    Vector& a, Vector& b, std::integer_sequence<int, lane...>) {
  constexpr int kLanes = static_cast<int>(kVector);
  const Vector first = __builtin_shuffle(
      a, b,
      IntVector{((lane & distance) ? kLanes + lane - distance : lane)...});
  b = __builtin_shuffle(
      a, b,
      IntVector{((lane & distance) ? kLanes + lane : lane + distance)...});
  a = first;
}
template <int distance>
[[gnu::always_inline]] inline void ExchangeLanes(Vector (&rows)[kVector]) {
#pragma GCC unroll 16
  for (int i = 0; i < kVector; ++i) {
    if ((i & distance) != 0) continue;
    ExchangeLanes<distance>(
        rows[i], rows[i + distance],
        std::make_integer_sequence<int, static_cast<int>(kVector)>());
  }
}

// Lane j of row i becomes lane i of row j.
[[gnu::always_inline]] inline void TransposeLanes(Vector (&rows)[kVector]) {
  ExchangeLanes<8>(rows);
  ExchangeLanes<4>(rows);
  ExchangeLanes<2>(rows);
  ExchangeLanes<1>(rows);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_VECTOR_FLOAT_VECTOR_H_
