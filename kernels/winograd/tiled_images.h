// How images are split into the tiles of Winograd's F(4x4, 3x3).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_TILED_IMAGES_H_
#define PARTITA_KERNELS_WINOGRAD_TILED_IMAGES_H_

#include <cstdint>

#include "kernels/vector/float_vector.h"

namespace partita {

// Results along a side of a tile.
inline constexpr int64_t kTileSide = 4;

// f32 images in blocks of 16 channels (abcd16b), under a grid of tiles. Sources
// and results of a convolution have the same grid; a source's tiles begin in
// its padding and overlap.
struct TiledImages {
  int64_t images, channels, height, width;
  int64_t down, across;  // tiles of one image
  int64_t top = 0;       // positions of the first tile
  int64_t left = 0;      // before the image

  int64_t tiles() const { return images * down * across; }
};

// The first position of a tile, which may be outside the image.
struct TilePlace {
  [[gnu::always_inline]] TilePlace(const TiledImages& all, int64_t tile)
      : image(tile / (all.down * all.across)),
        y(tile / all.across % all.down * kTileSide - all.top),
        x(tile % all.across * kTileSide - all.left) {}

  // Moves to the next tile of the grid.
  [[gnu::always_inline]] void Advance(const TiledImages& all) {
    x += kTileSide;
    if (x + all.left < all.across * kTileSide) return;
    x = -all.left;
    y += kTileSide;
    if (y + all.top < all.down * kTileSide) return;
    y = -all.top;
    ++image;
  }

  // True if a square of the given side is inside the image.
  [[gnu::always_inline]] bool IsInside(const TiledImages& all,
                                       int64_t side) const {
    return y >= 0 && x >= 0 && y + side <= all.height && x + side <= all.width;
  }
  // Floats from the images' first to the channel at the tile's first position,
  // which may be outside.
  [[gnu::always_inline]] int64_t Offset(const TiledImages& all,
                                        int64_t channel) const {
    const int64_t block = image * (all.channels / kVector) + channel / kVector;
    return ((block * all.height + y) * all.width + x) * kVector +
           channel % kVector;
  }

  int64_t image, y, x;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_TILED_IMAGES_H_
