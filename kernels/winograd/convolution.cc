// The convolution: a stretch of tiles is transformed for all threads, which
// then split the chunks of the result's channels, and tiles if there are too
// few chunks.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/convolution.h"

#include <algorithm>

#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/winograd/image_transforms.h"
#include "kernels/winograd/narrow_convolution.h"
#include "kernels/winograd/tap_matrices.h"
#include "kernels/winograd/weight_transforms.h"
#include "kernels/winograd/work_split.h"

namespace partita {
namespace {

// Tiles in a group, which one thread multiplies. Weights are transformed again
// for each group. A group has as many tiles as have a transformed source that
// fits into a core's share of the last-level cache, about 4.5 MiB where that is
// fastest (Zen 5), and at least a few, even if some threads are idle.
constexpr int64_t kTilesByChannels = 128 * 256;
constexpr int64_t kFewTiles = 16;
constexpr int64_t kLeastTiles = 64;
constexpr int64_t kMostTiles = 128;

int64_t ChunkWidth(int64_t channels, int64_t chunk) {
  return std::min(kChunk, channels - chunk * kChunk);
}

// How a convolution's tiles are split.
struct Division {
  Division(const TiledConvolution& conv, int threads) {
    const int64_t channels = ChunksOf(conv.source.channels) * kChunk;
    const int64_t most =
        std::clamp(kTilesByChannels / channels, kLeastTiles, kMostTiles);
    const int64_t tiles = conv.source.tiles();
    const int64_t groups =
        std::min(PartsFor(ChunksOf(conv.result.channels), threads),
                 std::max<int64_t>(tiles / kFewTiles, 1));
    stretches = PartsOf(tiles, most * groups);
    stretch = PartsOf(tiles, stretches);
    group = PartsOf(stretch, groups);
  }

  int64_t stretches;
  int64_t stretch;  // tiles that are transformed together, for all threads
  int64_t group;    // tiles of a stretch that one thread multiplies
};

int64_t WeightFloats() { return TapMatrices::Floats(kChunk, kChunk); }

// One thread's part of the workspace.
int64_t ThreadFloats(const Division& division) {
  return WeightFloats() + TapMatrices::Floats(division.group, kChunk);
}

class Convolution {
 public:
  Convolution(const TiledConvolution& conv, const ConvolutionArgs& args,
              int threads)
      : conv_(conv),
        args_(args),
        threads_(threads),
        division_(conv, threads),
        source_(args.workspace, division_.stretch, conv.source.channels),
        shares_(args.workspace +
                TapMatrices::Floats(division_.stretch, conv.source.channels)) {}

  void Run() const {
    for (int64_t first = 0; first < conv_.source.tiles();
         first += division_.stretch) {
      ComputeStretch(first,
                     std::min(division_.stretch, conv_.source.tiles() - first));
    }
  }

 private:
  void ComputeStretch(int64_t first, int64_t count) const {
    TransformTiles(first, count);
    const int64_t chunks = ChunksOf(conv_.result.channels);
    const int64_t groups = PartsOf(count, division_.group);
    ParallelForRanges(
        threads_, chunks * groups, [&](int thread, int64_t begin, int64_t end) {
          float* share = shares_ + thread * ThreadFloats(division_);
          for (int64_t i = begin; i < end; ++i) {
            const int64_t row = i % groups * division_.group;
            const int64_t rows = std::min(division_.group, count - row);
            MultiplyGroup({first + row, rows, row, i / groups}, share);
          }
        });
  }

  // A transformed tile serves all chunks of the result's channels, so tiles are
  // transformed once for all threads.
  void TransformTiles(int64_t first, int64_t count) const {
    // Tiles that a thread takes at once.
    constexpr int64_t kRun = 16;
    const int64_t runs = PartsOf(count, kRun);
    ParallelFor(threads_, ChunksOf(conv_.source.channels) * runs,
                [&](int64_t i) {
                  const int64_t row = i % runs * kRun;
                  TransformSource(
                      conv_.source, args_.x,
                      {first + row, std::min(kRun, count - row), row, i / runs},
                      source_.OfChunk(i / runs));
                });
  }

  // One chunk of the result's channels, for a group of tiles.
  void MultiplyGroup(const TileRange& group, float* share) const {
    const TapMatrices weights(share, kChunk, kChunk);
    const TapMatrices products(share + WeightFloats(), division_.group, kChunk);
    const int64_t width = ChunkWidth(conv_.result.channels, group.chunk);
    // Chunks of the sum one after another, in one thread: the order of sums is
    // the same for any number of threads.
    for (int64_t chunk = 0; chunk < ChunksOf(conv_.source.channels); ++chunk) {
      const int64_t depth = ChunkWidth(conv_.source.channels, chunk);
      PrepareWeights(group.chunk, width, chunk, depth, weights);
      for (int64_t tap = 0; tap < kTaps; ++tap) {
        Multiply({.left = {source_.Chunk(tap, chunk) + group.row * kChunk,
                           kChunk, 1},
                  .right = {weights.Chunk(tap, 0), kChunk},
                  .result = {products.Chunk(tap, 0), kChunk},
                  .m = group.count,
                  .n = width,
                  .k = depth,
                  .adds = chunk > 0});
      }
    }
    TransformToResult(conv_.result, products,
                      {group.first, group.count, 0, group.chunk}, args_.bias,
                      args_.y);
  }

  // Transformed weights are four times as large as the weights: 36 taps for 9
  // positions. Keeping those of all channels would need memory traffic of its
  // own.
  void PrepareWeights(int64_t result_chunk, int64_t width, int64_t source_chunk,
                      int64_t depth, const TapMatrices& weights) const {
    const int64_t result = result_chunk * kChunk;
    const int64_t source = source_chunk * kChunk;
    if (conv_.turned) {
      TransformTurnedWeights(
          args_.w, {conv_.result.channels, source, depth, result, width},
          weights);
    } else {
      TransformWeights(args_.w,
                       {conv_.source.channels, result, width, source, depth},
                       weights);
    }
  }

  const TiledConvolution& conv_;
  const ConvolutionArgs& args_;
  int threads_;
  Division division_;
  TapMatrices source_;
  float* shares_;
};

}  // namespace

TiledConvolution TileConvolution(int64_t images, int64_t channels,
                                 int64_t height, int64_t width,
                                 int64_t result_channels, int64_t result_height,
                                 int64_t result_width, int64_t top,
                                 int64_t left) {
  const int64_t down = PartsOf(result_height, kTileSide);
  const int64_t across = PartsOf(result_width, kTileSide);
  return {.source = {images, channels, height, width, down, across, top, left},
          .result = {images, result_channels, result_height, result_width, down,
                     across}};
}

TiledWork ConvolutionWork(const TiledConvolution& conv, int threads) {
  if (IsNarrow(conv)) return NarrowWork(conv, threads);
  const Division division(conv, threads);
  const int64_t groups = PartsOf(division.stretch, division.group);
  return {
      .weight_transforms = division.stretches * groups,
      .barriers = 2 * division.stretches,
      .imbalance = Imbalance(ChunksOf(conv.result.channels) * groups, threads)};
}

int64_t ConvolutionFloats(const TiledConvolution& conv, int threads) {
  if (IsNarrow(conv)) return NarrowFloats(conv, threads);
  const Division division(conv, threads);
  return TapMatrices::Floats(division.stretch, conv.source.channels) +
         threads * ThreadFloats(division);
}

void Convolve(const TiledConvolution& conv, const ConvolutionArgs& args,
              int threads) {
  if (IsNarrow(conv)) return ConvolveNarrow(conv, args, threads);
  Convolution(conv, args, threads).Run();
}

}  // namespace partita
