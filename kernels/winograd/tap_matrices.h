// Transformed tiles and weights, as matrices to multiply.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_TAP_MATRICES_H_
#define PARTITA_KERNELS_WINOGRAD_TAP_MATRICES_H_

#include <cstdint>

#include "kernels/vector/float_vector.h"

namespace partita {

// Along a tile of 4x4 results with windows of 3x3.
inline constexpr int64_t kTapsAlong = 6;
inline constexpr int64_t kTaps = kTapsAlong * kTapsAlong;
// Channels whose floats are adjacent.
inline constexpr int64_t kChunk = 64;

// The number of parts of at most `part` that hold `count`.
inline int64_t PartsOf(int64_t count, int64_t part) {
  return (count + part - 1) / part;
}
inline int64_t ChunksOf(int64_t channels) { return PartsOf(channels, kChunk); }

// One f32 matrix for each of 36 taps. Columns are channels, in chunks of 64
// whose rows are contiguous, so that a product of a chunk streams.
struct TapMatrices {
  static int64_t Floats(int64_t rows, int64_t channels) {
    return kTaps * TapStep(rows, channels);
  }

  TapMatrices(float* floats, int64_t matrix_rows, int64_t channels)
      : at(floats),
        rows(matrix_rows),
        tap_step(TapStep(matrix_rows, channels)) {}

  // The element of the first tap; the same element of the next tap is tap_step
  // floats further.
  float* Element(int64_t row, int64_t channel) const {
    return at + (channel / kChunk * rows + row) * kChunk + channel % kChunk;
  }
  float* Chunk(int64_t tap, int64_t chunk) const {
    return at + tap * tap_step + chunk * rows * kChunk;
  }
  // The same memory as matrices of one chunk.
  TapMatrices OfChunk(int64_t chunk) const {
    TapMatrices one = *this;
    one.at = Chunk(0, chunk);
    return one;
  }

  float* at;
  int64_t rows;
  int64_t tap_step;

 private:
  // An odd number of lines more than the matrix has: the taps of an element are
  // written in sequence and would otherwise map to the same cache sets.
  static int64_t TapStep(int64_t rows, int64_t channels) {
    return ChunksOf(channels) * rows * kChunk + 5 * kVector;
  }
};

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_TAP_MATRICES_H_
