// Weights of 3x3 convolutions for oneDNN's Winograd kernel, F(2x2, 3x3).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_SMALL_TILE_WEIGHTS_H_
#define PARTITA_KERNELS_WINOGRAD_SMALL_TILE_WEIGHTS_H_

#include <cstdint>

namespace partita {

// Taps after the transform of nine: G w G' of Lavin and Gray, "Fast Algorithms
// for Convolutional Neural Networks" (2015).
inline constexpr int64_t kWinogradTaps = 16;

// `w` holds 3x3 taps of `pairs` input and output channels, taps outermost; `u`
// receives 4x4 taps of the same pairs in the same order. `pairs` is a multiple
// of 16. Each element is summed in one order, whatever the threads.
void TransformWinogradWeights(const float* w, float* u, int64_t pairs,
                              int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_SMALL_TILE_WEIGHTS_H_
