// Transforms tiles of images into tap matrices, and back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_IMAGE_TRANSFORMS_H_
#define PARTITA_KERNELS_WINOGRAD_IMAGE_TRANSFORMS_H_

#include <cstdint>

#include "kernels/winograd/tap_matrices.h"
#include "kernels/winograd/tiled_images.h"

namespace partita {

// Tiles [first, first + count) and one chunk of channels: tile `first` is row
// `row` of the matrices, which have only that chunk. The order of sums is the
// same on every processor.
struct TileRange {
  int64_t first;
  int64_t count;
  int64_t row;
  int64_t chunk;
};

// B' d B for tiles of 6x6; zero outside the images.
void TransformSource(const TiledImages& images, const float* x,
                     const TileRange& range, const TapMatrices& taps);

// A y A' for tiles of 4x4 of the result's gradient, zero outside of it.
void TransformResultGradient(const TiledImages& images, const float* dy,
                             const TileRange& range, const TapMatrices& taps);

// Adds `bias`, one for each channel, if it is not null, to A' m A, and writes
// tiles of 4x4; positions outside the images are not written.
void TransformToResult(const TiledImages& images, const TapMatrices& taps,
                       const TileRange& range, const float* bias, float* y);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_IMAGE_TRANSFORMS_H_
