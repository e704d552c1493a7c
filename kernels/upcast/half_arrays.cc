// Uses the processor's own f16 conversions, if it has them.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/upcast/half_arrays.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>

#include "graph/half.h"
#include "graph/instruction_set.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

// Fewer elements are not worth waking a thread.
constexpr int64_t kShare = 16 << 10;
constexpr int64_t kLanes = 8;

int ThreadsFor(int64_t count, int threads) {
  return static_cast<int>(std::min<int64_t>(threads, count / kShare));
}

void WidenBf16(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i]) << 16);
  }
}

// Rounds to nearest even: adds half of the last kept place, or slightly less if
// that is already even. NaN stays NaN, although its fraction may be in the
// dropped bits.
void NarrowToBf16(const float* from, uint16_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(from[i]);
    const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const uint32_t quiet = bits | 0x400000;
    to[i] =
        static_cast<uint16_t>((std::isnan(from[i]) ? quiet : rounded) >> 16);
  }
}

void WidenF16(const Half* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void NarrowToF16(const float* from, Half* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = Half(from[i]);
}

#if defined(__x86_64__)
bool ConvertsF16() {
  static const bool does = MayUse(InstructionSet::kF16c);
  return does;
}

[[gnu::target("avx,f16c")]] int64_t WidenLanes(const Half* from, float* to,
                                               int64_t count) {
  const int64_t whole = count - count % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const __m128i bits =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
  return whole;
}

[[gnu::target("avx,f16c")]] int64_t NarrowLanes(const float* from, Half* to,
                                                int64_t count) {
  const int64_t whole = count - count % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
  return whole;
}
#else
bool ConvertsF16() { return false; }
int64_t WidenLanes(const Half*, float*, int64_t) { return 0; }
int64_t NarrowLanes(const float*, Half*, int64_t) { return 0; }
#endif

}  // namespace

void Upcast(DType dtype, const void* from, float* to, int64_t count,
            int threads) {
  ParallelForRanges(ThreadsFor(count, threads), count,
                    [&](int, int64_t begin, int64_t end) {
                      const int64_t size = end - begin;
                      if (dtype == DType::kBF16) {
                        WidenBf16(static_cast<const uint16_t*>(from) + begin,
                                  to + begin, size);
                        return;
                      }
                      const Half* x = static_cast<const Half*>(from) + begin;
                      const int64_t done =
                          ConvertsF16() ? WidenLanes(x, to + begin, size) : 0;
                      WidenF16(x + done, to + begin + done, size - done);
                    });
}

void Narrow(DType dtype, const float* from, void* to, int64_t count,
            int threads) {
  ParallelForRanges(
      ThreadsFor(count, threads), count, [&](int, int64_t begin, int64_t end) {
        const int64_t size = end - begin;
        if (dtype == DType::kBF16) {
          NarrowToBf16(from + begin, static_cast<uint16_t*>(to) + begin, size);
          return;
        }
        Half* y = static_cast<Half*>(to) + begin;
        const int64_t done =
            ConvertsF16() ? NarrowLanes(from + begin, y, size) : 0;
        NarrowToF16(from + begin + done, y + done, size - done);
      });
}

}  // namespace partita
