// A tile of one register's channels at a time.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/image_transforms.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/vector/vector_code.h"
#include "kernels/winograd/tile_algebra.h"

namespace partita {
namespace {

template <typename Floats>
inline constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);

template <typename Floats, int side>
[[gnu::always_inline]] inline void LoadInside(const float* from, int64_t line,
                                              Floats (&tile)[side][side]) {
#pragma GCC unroll 6
  for (int i = 0; i < side; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < side; ++j) {
      Load(from + i * line + j * kVector, tile[i][j]);
    }
  }
}

// Zero outside the image.
template <typename Floats, int side>
[[gnu::always_inline]] inline void LoadAcross(const TiledImages& images,
                                              const TilePlace& place,
                                              const float* from, int64_t line,
                                              Floats (&tile)[side][side]) {
#pragma GCC unroll 6
  for (int i = 0; i < side; ++i) {
    const bool has_line = place.y + i >= 0 && place.y + i < images.height;
#pragma GCC unroll 6
    for (int j = 0; j < side; ++j) {
      tile[i][j] = Floats{};
      if (has_line && place.x + j >= 0 && place.x + j < images.width) {
        Load(from + i * line + j * kVector, tile[i][j]);
      }
    }
  }
}

// Asks for the 4x4 positions that the second tile from this one has in the
// grid, if the image holds all of them: a tile is as many short lines, of which
// the processor's own prefetching sees too late how they go on.
class Ahead {
 public:
  [[gnu::always_inline]] Ahead(const TiledImages& images, int64_t tile)
      : images_(images), place_(images, tile + 2) {
    place_.y += images.top;
    place_.x += images.left;
    is_whole_ = tile + 2 < images.tiles() && place_.IsInside(images, kTileSide);
  }

  // Of the 16 channels from `channel` on.
  [[gnu::always_inline]] void Fetch(const float* images,
                                    int64_t channel) const {
    if (!is_whole_) return;
    const float* from = images + place_.Offset(images_, channel);
#pragma GCC unroll 4
    for (int i = 0; i < kTileSide; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kTileSide; ++j) {
        __builtin_prefetch(from + (i * images_.width + j) * kVector);
      }
    }
  }

 private:
  const TiledImages& images_;
  TilePlace place_;
  bool is_whole_;
};

// All of a range's channels of its chunk.
[[gnu::always_inline]] inline int64_t EndOfChunk(const TiledImages& images,
                                                 int64_t chunk) {
  return std::min((chunk + 1) * kChunk, images.channels);
}

// Tiles of side x side to taps, by Line.
template <typename Line, int side, typename Floats>
struct ToTaps {
  [[gnu::always_inline]] static inline void Run(const TiledImages* images,
                                                const float* x,
                                                const TileRange* range,
                                                const TapMatrices* taps) {
    const int64_t line = images->width * kVector;
    for (int64_t t = 0; t < range->count; ++t) {
      const TilePlace place(*images, range->first + t);
      const Ahead ahead(*images, range->first + t);
      const bool inside = place.IsInside(*images, side);
      for (int64_t c = range->chunk * kChunk;
           c < EndOfChunk(*images, range->chunk); c += kLanes<Floats>) {
        if (c % kVector == 0) ahead.Fetch(x, c);
        const float* from = x + place.Offset(*images, c);
        Floats tile[side][side], applied[kTapsAlong][kTapsAlong];
        if (inside) {
          LoadInside(from, line, tile);
        } else {
          LoadAcross(*images, place, from, line, tile);
        }
        ApplyBothWays<Line>(tile, applied);
        float* to = taps->Element(range->row + t, c);
#pragma GCC unroll 6
        for (int i = 0; i < kTapsAlong; ++i) {
#pragma GCC unroll 6
          for (int j = 0; j < kTapsAlong; ++j) {
            Store(applied[i][j], to + (i * kTapsAlong + j) * taps->tap_step);
          }
        }
      }
    }
  }
};

// Results of 4 MiB and more go past the caches: where two cores share a last
// cache of 32 MiB, ResNet-18 trains faster than with a larger bound or none, as
// other values then stay in it.
template <typename Floats>
[[gnu::always_inline]] inline bool Streams(const TiledImages& images,
                                           const float* y) {
  constexpr int64_t kLeastFloats = 1 << 20;
  const int64_t floats =
      images.images * images.channels * images.height * images.width;
  return std::is_same_v<Floats, Vector> && floats >= kLeastFloats &&
         reinterpret_cast<uintptr_t>(y) % sizeof(Vector) == 0;
}

template <typename Floats>
[[gnu::always_inline]] inline void StoreResult(bool streams,
                                               const Floats& result,
                                               float* to) {
  if constexpr (std::is_same_v<Floats, Vector>) {
    if (streams) return StoreStreaming(result, to);
  }
  Store(result, to);
}

template <typename Floats>
struct ToResult {
  [[gnu::always_inline]] static inline void Run(const TiledImages* images,
                                                const TapMatrices* taps,
                                                const TileRange* range,
                                                const float* bias, float* y) {
    const int64_t line = images->width * kVector;
    const bool streams = Streams<Floats>(*images, y);
    for (int64_t t = 0; t < range->count; ++t) {
      const TilePlace place(*images, range->first + t);
      const Ahead ahead(*images, range->first + t);
      const bool inside = place.IsInside(*images, kTileSide);
      const int64_t first = range->chunk * kChunk;
      for (int64_t c = first; c < EndOfChunk(*images, range->chunk);
           c += kLanes<Floats>) {
        const float* from = taps->Element(range->row + t, c - first);
        Floats met[kTapsAlong][kTapsAlong], tile[kTileSide][kTileSide];
#pragma GCC unroll 6
        for (int i = 0; i < kTapsAlong; ++i) {
#pragma GCC unroll 6
          for (int j = 0; j < kTapsAlong; ++j) {
            Load(from + (i * kTapsAlong + j) * taps->tap_step, met[i][j]);
          }
        }
        ApplyBothWays<ResultOfTaps>(met, tile);
        Floats shift = {};
        if (bias != nullptr) Load(bias + c, shift);
        float* to = y + place.Offset(*images, c);
        if (c % kVector == 0 && !streams) ahead.Fetch(y, c);
#pragma GCC unroll 4
        for (int i = 0; i < kTileSide; ++i) {
#pragma GCC unroll 4
          for (int j = 0; j < kTileSide; ++j) {
            if (!inside && (place.y + i >= images->height ||
                            place.x + j >= images->width)) {
              continue;
            }
            const Floats result = tile[i][j] + shift;
            StoreResult(streams, result, to + i * line + j * kVector);
          }
        }
      }
    }
  }
};

template <typename Line, int side>
void RunToTaps(const TiledImages& images, const float* x,
               const TileRange& range, const TapMatrices& taps) {
  RunByWidth<ToTaps<Line, side, Vector>, ToTaps<Line, side, HalfVector>>(
      &images, x, &range, &taps);
}

}  // namespace

void TransformSource(const TiledImages& images, const float* x,
                     const TileRange& range, const TapMatrices& taps) {
  RunToTaps<SourceTaps, kTapsAlong>(images, x, range, taps);
}

void TransformResultGradient(const TiledImages& images, const float* dy,
                             const TileRange& range, const TapMatrices& taps) {
  RunToTaps<ResultGradientTaps, kTileSide>(images, dy, range, taps);
}

void TransformToResult(const TiledImages& images, const TapMatrices& taps,
                       const TileRange& range, const float* bias, float* y) {
  RunByWidth<ToResult<Vector>, ToResult<HalfVector>>(&images, &taps, &range,
                                                     bias, y);
  FinishStreaming();
}

}  // namespace partita
