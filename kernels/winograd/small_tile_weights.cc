// The transform, a vector of pairs at a time. Its 16 streams are at distances
// that share a cache set, so each line is written whole.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/small_tile_weights.h"

#include <algorithm>

#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

// G times a column of three.
struct Column {
  Vector first, sum, difference, last;

  [[gnu::always_inline]] void Spread(const Vector& a, const Vector& b,
                                     const Vector& c) {
    const Vector outer = 0.5f * (a + c);
    const Vector inner = 0.5f * b;
    first = a;
    sum = outer + inner;
    difference = outer - inner;
    last = c;
  }

  [[gnu::always_inline]] void SpreadFrom(const float* w, int64_t step) {
    Vector a, b, c;
    Load(w, a);
    Load(w + step, b);
    Load(w + 2 * step, c);
    Spread(a, b, c);
  }

  [[gnu::always_inline]] void StoreTo(float* u, int64_t step) const {
    Store(first, u);
    Store(sum, u + step);
    Store(difference, u + 2 * step);
    Store(last, u + 3 * step);
  }
};

struct TransformLoop {
  [[gnu::always_inline]] static inline void Run(const float* w, float* u,
                                                int64_t pairs, int64_t first,
                                                int64_t end) {
    for (int64_t i = first; i < end; i += kVector) {
      Column left, middle, right, row;
      left.SpreadFrom(w + i, 3 * pairs);
      middle.SpreadFrom(w + pairs + i, 3 * pairs);
      right.SpreadFrom(w + 2 * pairs + i, 3 * pairs);
      row.Spread(left.first, middle.first, right.first);
      row.StoreTo(u + i, pairs);
      row.Spread(left.sum, middle.sum, right.sum);
      row.StoreTo(u + 4 * pairs + i, pairs);
      row.Spread(left.difference, middle.difference, right.difference);
      row.StoreTo(u + 8 * pairs + i, pairs);
      row.Spread(left.last, middle.last, right.last);
      row.StoreTo(u + 12 * pairs + i, pairs);
    }
  }
};

}  // namespace

void TransformWinogradWeights(const float* w, float* u, int64_t pairs,
                              int threads) {
  constexpr int64_t kChunk = 1024;
  const int64_t chunks = (pairs + kChunk - 1) / kChunk;
  ParallelFor(threads, chunks, [&](int64_t chunk) {
    RunVectorised<TransformLoop>(w, u, pairs, chunk * kChunk,
                                 std::min(pairs, (chunk + 1) * kChunk));
  });
}

}  // namespace partita
