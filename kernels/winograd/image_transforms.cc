// One tile of one register's channels at a time, then the adjacent tile.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/image_transforms.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/vector/streaming.h"
#include "kernels/vector/vector_code.h"
#include "kernels/winograd/tile_algebra.h"

namespace partita {
namespace {

template <typename Floats>
inline constexpr int64_t kLanes = sizeof(Floats) / sizeof(float);

// The square of a tile's positions, and the distance of its lines. If the tile
// crosses the image's edge, the positions are copied, zero outside: the
// transform itself has no bounds checks, so only tiles at an edge pay for them.
template <typename Floats, int side>
class Square {
 public:
  [[gnu::always_inline]] Square(const TiledImages& images,
                                const TilePlace& place, const float* from)
      : first(from), line(images.width * kVector) {
    if (place.IsInside(images, side)) return;
    for (int i = 0; i < side; ++i) {
      const bool has_line = place.y + i >= 0 && place.y + i < images.height;
      for (int j = 0; j < side; ++j) {
        Floats position = {};
        if (has_line && place.x + j >= 0 && place.x + j < images.width) {
          Load(from + i * line + j * kVector, position);
        }
        Store(position, copy_ + (i * side + j) * kVector);
      }
    }
    first = copy_;
    line = side * kVector;
  }

  const float* first;
  int64_t line;

 private:
  alignas(sizeof(Floats)) float copy_[side * side * kVector];
};

// Tiles between the current one and the prefetched one. A tile is many short
// lines, which hardware prefetching detects too late.
constexpr int64_t kAhead = 6;

// Prefetches the 4x4 positions of a tile in the grid, for 16 channels, if the
// images contain all of them.
[[gnu::always_inline]] inline void Fetch(const TiledImages& images,
                                         TilePlace place, const float* from,
                                         int64_t channel) {
  place.y += images.top;
  place.x += images.left;
  if (place.image >= images.images || !place.IsInside(images, kTileSide)) {
    return;
  }
  from += place.Offset(images, channel);
#pragma GCC unroll 4
  for (int i = 0; i < kTileSide; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kTileSide; ++j) {
      __builtin_prefetch(from + (i * images.width + j) * kVector);
    }
  }
}

// The channels of a range, 16 at a time over all tiles: lines of an image in
// the same set of the cache then fit into it, and consecutive tiles are
// adjacent.
struct Channels {
  [[gnu::always_inline]] Channels(const TiledImages& images,
                                  const TileRange& range)
      : first(range.chunk * kChunk),
        end(std::min(first + kChunk, images.channels)) {}

  int64_t first, end;
};

// From tiles of side x side to taps, by Line.
template <typename Line, int side, typename Floats>
struct ToTaps {
  [[gnu::always_inline]] static inline void Run(const TiledImages* images,
                                                const float* x,
                                                const TileRange* range,
                                                const TapMatrices* taps) {
    const Channels channels(*images, *range);
    for (int64_t c = channels.first; c < channels.end; c += kVector) {
      TilePlace place(*images, range->first);
      TilePlace ahead(*images, range->first + kAhead);
      for (int64_t t = 0; t < range->count; ++t) {
        Fetch(*images, ahead, x, c);
        for (int64_t lane = c; lane < c + kVector; lane += kLanes<Floats>) {
          Transform(*images, place, x + place.Offset(*images, lane),
                    taps->Element(range->row + t, lane - channels.first),
                    taps->tap_step);
        }
        place.Advance(*images);
        ahead.Advance(*images);
      }
    }
  }

 private:
  [[gnu::always_inline]] static inline void Transform(const TiledImages& images,
                                                      const TilePlace& place,
                                                      const float* from,
                                                      float* to,
                                                      int64_t tap_step) {
    const Square<Floats, side> square(images, place, from);
    Floats applied[kTapsAlong][kTapsAlong];
    ApplyBothWays<Line, side>(square.first, square.line, kVector, applied);
#pragma GCC unroll 6
    for (int i = 0; i < kTapsAlong; ++i) {
#pragma GCC unroll 6
      for (int j = 0; j < kTapsAlong; ++j) {
        Store(applied[i][j], to + (i * kTapsAlong + j) * tap_step);
      }
    }
  }
};

// Streaming stores bypass the caches (kernels/vector/streaming.h). They need
// whole aligned lines, which only the wide vector has.
template <typename Floats>
[[gnu::always_inline]] inline bool Streams(const TiledImages& images,
                                           const float* y) {
  constexpr int64_t kLeastFloats =
      kLeastStreamedBytes / static_cast<int64_t>(sizeof(float));
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
    const bool streams = Streams<Floats>(*images, y);
    const Channels channels(*images, *range);
    for (int64_t c = channels.first; c < channels.end; c += kVector) {
      TilePlace place(*images, range->first);
      TilePlace ahead(*images, range->first + kAhead);
      for (int64_t t = 0; t < range->count; ++t) {
        if (!streams) Fetch(*images, ahead, y, c);
        for (int64_t lane = c; lane < c + kVector; lane += kLanes<Floats>) {
          Floats shift = {};
          if (bias != nullptr) Load(bias + lane, shift);
          Transform(*images, place, streams,
                    taps->Element(range->row + t, lane - channels.first),
                    taps->tap_step, shift, y + place.Offset(*images, lane));
        }
        place.Advance(*images);
        ahead.Advance(*images);
      }
    }
  }

 private:
  [[gnu::always_inline]] static inline void Transform(
      const TiledImages& images, const TilePlace& place, bool streams,
      const float* from, int64_t tap_step, const Floats& shift, float* to) {
    Floats tile[kTileSide][kTileSide];
    ApplyBothWays<ResultOfTaps, kTapsAlong>(from, kTapsAlong * tap_step,
                                            tap_step, tile);
    const bool inside = place.IsInside(images, kTileSide);
    const int64_t line = images.width * kVector;
#pragma GCC unroll 4
    for (int i = 0; i < kTileSide; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kTileSide; ++j) {
        if (!inside &&
            (place.y + i >= images.height || place.x + j >= images.width)) {
          continue;
        }
        StoreResult(streams, Floats(tile[i][j] + shift),
                    to + i * line + j * kVector);
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
