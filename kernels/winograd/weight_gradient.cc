// The gradient by the weights. For a stretch of tiles, the result's gradient is
// transformed for all threads, and the source one chunk of channels at a time.
// The threads then split that chunk's blocks, one for each chunk of the
// result's.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/winograd/convolution.h"
#include "kernels/winograd/image_transforms.h"
#include "kernels/winograd/tap_matrices.h"
#include "kernels/winograd/weight_transforms.h"
#include "kernels/winograd/work_split.h"

namespace partita {
namespace {

// Tiles of a stretch, for each thread: multiples of those that a product sums
// at once, so that the sums do not depend on their number.
constexpr int64_t kSummedAtOnce = 64;
constexpr int64_t kMostTiles = 128;
// Floats of a stretch that are transformed together: those that the last-level
// cache holds, of one device or of several that share it.
constexpr int64_t kStretchFloats = 5 << 20;
static_assert(kMostTiles % kSummedAtOnce == 0);

// As many as make the transformed tiles as large as the sums, which stay in
// memory until the next stretch.
int64_t TilesOfStretch(const TiledConvolution& conv, int threads) {
  const int64_t inputs = conv.source.channels;
  const int64_t outputs = conv.result.channels;
  const int64_t balanced = std::clamp(inputs * outputs / (inputs + outputs),
                                      kSummedAtOnce, kMostTiles);
  const int64_t columns = (1 + ChunksOf(outputs)) * kChunk;
  const int64_t most =
      std::min(balanced * threads, kStretchFloats / (kTaps * columns));
  const int64_t whole = std::max<int64_t>(most / kSummedAtOnce, 1);
  return std::min(whole * kSummedAtOnce, conv.source.tiles());
}

int64_t Stretches(const TiledConvolution& conv, int threads) {
  return PartsOf(conv.source.tiles(), TilesOfStretch(conv, threads));
}

// Blocks of a chunk of inputs by one of outputs: the sums of a block stay in a
// core's second-level cache.
int64_t Blocks(const TiledConvolution& conv) {
  return ChunksOf(conv.source.channels) * ChunksOf(conv.result.channels);
}

// Ranges of taps that split the products of a block, because a chunk of the
// source has too few blocks for all threads.
int64_t TapParts(const TiledConvolution& conv, int threads) {
  return std::min(PartsFor(ChunksOf(conv.result.channels), threads), kTaps);
}

// True if sums are kept for the additions of other stretches and threads.
bool KeepsSums(const TiledConvolution& conv, int threads) {
  return Stretches(conv, threads) > 1 || TapParts(conv, threads) > 1;
}

int64_t BlockFloats() { return TapMatrices::Floats(kChunk, kChunk); }

class WeightGradient {
 public:
  WeightGradient(const TiledConvolution& conv, const WeightGradientArgs& args,
                 int threads)
      : conv_(conv),
        args_(args),
        threads_(threads),
        tiles_(TilesOfStretch(conv, threads)),
        keeps_sums_(KeepsSums(conv, threads)),
        source_(args.workspace, tiles_, kChunk),
        gradient_(source_.at + TapMatrices::Floats(tiles_, kChunk), tiles_,
                  conv.result.channels),
        sums_(gradient_.at +
              TapMatrices::Floats(tiles_, conv.result.channels)) {}

  void Run() const {
    for (int64_t first = 0; first < conv_.source.tiles(); first += tiles_) {
      ComputeStretch(first, std::min(tiles_, conv_.source.tiles() - first));
    }
    if (!keeps_sums_) return;
    ParallelFor(threads_, Blocks(conv_), [&](int64_t block) {
      TransformToWeightGradient(SumsOf(block), RangeOf(block), args_.dw);
    });
  }

 private:
  void ComputeStretch(int64_t first, int64_t count) const {
    TransformGradient(first, count);
    for (int64_t chunk = 0; chunk < ChunksOf(conv_.source.channels); ++chunk) {
      TransformSourceChunk(first, count, chunk);
      MultiplyBlocks(chunk, first, count);
    }
  }

  void MultiplyBlocks(int64_t source_chunk, int64_t first,
                      int64_t count) const {
    const int64_t parts = TapParts(conv_, threads_);
    const int64_t chunks = ChunksOf(conv_.result.channels);
    ParallelForRanges(
        threads_, chunks * parts, [&](int thread, int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t block = source_chunk * chunks + i / parts;
            const TapMatrices sums = SumsOf(keeps_sums_ ? block : thread);
            MultiplyTaps(block, i % parts * kTaps / parts,
                         (i % parts + 1) * kTaps / parts, count,
                         /*adds=*/first > 0, sums);
            if (keeps_sums_) continue;
            TransformToWeightGradient(sums, RangeOf(block), args_.dw);
          }
        });
  }

  TapMatrices SumsOf(int64_t place) const {
    return TapMatrices(sums_ + place * BlockFloats(), kChunk, kChunk);
  }

  WeightRange RangeOf(int64_t block) const {
    const int64_t chunks = ChunksOf(conv_.result.channels);
    const int64_t output = block % chunks * kChunk;
    const int64_t input = block / chunks * kChunk;
    return {conv_.source.channels, output,
            std::min(kChunk, conv_.result.channels - output), input,
            std::min(kChunk, conv_.source.channels - input)};
  }

  // Tiles that a thread transforms at once.
  int64_t RunOf(int64_t count) const {
    return std::clamp<int64_t>(PartsOf(count, threads_), 16, kSummedAtOnce);
  }

  void TransformGradient(int64_t first, int64_t count) const {
    const int64_t run = RunOf(count);
    const int64_t runs = PartsOf(count, run);
    ParallelFor(threads_, ChunksOf(conv_.result.channels) * runs,
                [&](int64_t i) {
                  const int64_t row = i % runs * run;
                  TransformResultGradient(
                      conv_.result, args_.dy,
                      {first + row, std::min(run, count - row), row, i / runs},
                      gradient_.OfChunk(i / runs));
                });
  }

  // Overwrites the previous chunk: both sides of 128 tiles with 256 channels
  // would be 9 MiB, and two devices would evict each other's from a cache.
  void TransformSourceChunk(int64_t first, int64_t count, int64_t chunk) const {
    const int64_t run = RunOf(count);
    ParallelFor(threads_, PartsOf(count, run), [&](int64_t i) {
      const int64_t row = i * run;
      TransformSource(conv_.source, args_.x,
                      {first + row, std::min(run, count - row), row, chunk},
                      source_);
    });
  }

  // Taps [begin, end) of a block, over all tiles of a stretch.
  void MultiplyTaps(int64_t block, int64_t begin, int64_t end, int64_t tiles,
                    bool adds, const TapMatrices& sums) const {
    const WeightRange range = RangeOf(block);
    for (int64_t tap = begin; tap < end; ++tap) {
      Multiply(
          {.left = {source_.Chunk(tap, 0), 1, kChunk},
           .right = {gradient_.Chunk(tap, range.first_output / kChunk), kChunk},
           .result = {sums.Chunk(tap, 0), kChunk},
           .m = range.num_inputs,
           .n = range.outputs,
           .k = tiles,
           .adds = adds});
    }
  }

  const TiledConvolution& conv_;
  const WeightGradientArgs& args_;
  int threads_;
  int64_t tiles_;
  bool keeps_sums_;
  TapMatrices source_;
  TapMatrices gradient_;
  float* sums_;
};

}  // namespace

TiledWork WeightGradientWork(const TiledConvolution& conv, int threads) {
  const int64_t more = KeepsSums(conv, threads) ? 1 : 0;
  return {
      .weight_transforms = 1,
      .barriers =
          Stretches(conv, threads) * (1 + 2 * ChunksOf(conv.source.channels)) +
          more,
      .imbalance = Imbalance(
          ChunksOf(conv.result.channels) * TapParts(conv, threads), threads)};
}

int64_t WeightGradientFloats(const TiledConvolution& conv, int threads) {
  const int64_t tiles = TilesOfStretch(conv, threads);
  const int64_t places = KeepsSums(conv, threads) ? Blocks(conv) : threads;
  return TapMatrices::Floats(tiles, kChunk) +
         TapMatrices::Floats(tiles, conv.result.channels) +
         places * BlockFloats();
}

void DifferentiateByWeights(const TiledConvolution& conv,
                            const WeightGradientArgs& args, int threads) {
  WeightGradient(conv, args, threads).Run();
}

}  // namespace partita
