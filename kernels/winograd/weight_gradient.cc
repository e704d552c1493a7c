// The gradient by the weights: both sides of a stretch of tiles are transformed
// for all threads, who share out blocks of pairs of channels.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "kernels/team/team.h"
#include "kernels/vector/block_product.h"
#include "kernels/winograd/convolution.h"
#include "kernels/winograd/image_transforms.h"
#include "kernels/winograd/shares.h"
#include "kernels/winograd/tap_matrices.h"
#include "kernels/winograd/weight_transforms.h"

namespace partita {
namespace {

// Tiles of a stretch, for each thread: whole multiples of those that a product
// sums at once, so that the sums do not depend on their number.
constexpr int64_t kSummedAtOnce = 64;
constexpr int64_t kMostTiles = 128;
// Floats of both sides of a stretch, transformed: what the last cache holds.
constexpr int64_t kStretchFloats = 5 << 20;
static_assert(kMostTiles % kSummedAtOnce == 0);

// As many as make the transformed tiles as large as the sums, which wait in
// memory for the next stretch.
int64_t TilesOfStretch(const TiledConvolution& conv, int threads) {
  const int64_t inputs = conv.source.channels;
  const int64_t outputs = conv.result.channels;
  const int64_t balanced = std::clamp(inputs * outputs / (inputs + outputs),
                                      kSummedAtOnce, kMostTiles);
  const int64_t columns = (ChunksOf(inputs) + ChunksOf(outputs)) * kChunk;
  const int64_t most =
      std::min(balanced * threads, kStretchFloats / (kTaps * columns));
  const int64_t whole = std::max<int64_t>(most / kSummedAtOnce, 1);
  return std::min(whole * kSummedAtOnce, conv.source.tiles());
}

int64_t Stretches(const TiledConvolution& conv, int threads) {
  return PartsOf(conv.source.tiles(), TilesOfStretch(conv, threads));
}

// Of a chunk of inputs by one of outputs: the sums of a block stay in a core's
// second cache.
int64_t Blocks(const TiledConvolution& conv) {
  return ChunksOf(conv.source.channels) * ChunksOf(conv.result.channels);
}

// Ranges of taps in which the products of a block are shared out, as there are
// not blocks enough for all threads.
int64_t TapParts(const TiledConvolution& conv, int threads) {
  return std::min(PartsFor(Blocks(conv), threads), kTaps);
}

// Sums wait for what other stretches and other threads add.
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
        source_(args.workspace, tiles_, conv.source.channels),
        gradient_(
            source_.at + TapMatrices::Floats(tiles_, conv.source.channels),
            tiles_, conv.result.channels),
        sums_(gradient_.at +
              TapMatrices::Floats(tiles_, conv.result.channels)) {}

  void Run() const {
    for (int64_t first = 0; first < conv_.source.tiles(); first += tiles_) {
      ComputeStretch(first, std::min(tiles_, conv_.source.tiles() - first));
    }
    if (!keeps_sums_) return;
    RunInTeam(threads_, Blocks(conv_), [&](int64_t block) {
      TransformToWeightGradient(SumsOf(block), RangeOf(block), args_.dw);
    });
  }

 private:
  void ComputeStretch(int64_t first, int64_t count) const {
    TransformTiles(first, count);
    const int64_t parts = TapParts(conv_, threads_);
    RunShares(threads_, Blocks(conv_) * parts,
              [&](int thread, int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t block = i / parts;
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

  void TransformTiles(int64_t first, int64_t count) const {
    // Tiles that a thread takes at once.
    constexpr int64_t kRun = 64;
    const int64_t runs = PartsOf(count, kRun);
    const int64_t source_runs = ChunksOf(conv_.source.channels) * runs;
    const int64_t result_runs = ChunksOf(conv_.result.channels) * runs;
    RunInTeam(threads_, source_runs + result_runs, [&](int64_t i) {
      const int64_t row = i % runs * kRun;
      TileRange range = {first + row, std::min(kRun, count - row), row,
                         i / runs};
      if (i < source_runs) {
        TransformSource(conv_.source, args_.x, range, source_);
      } else {
        range.chunk -= ChunksOf(conv_.source.channels);
        TransformResultGradient(conv_.result, args_.dy, range, gradient_);
      }
    });
  }

  // Taps [begin, end) of a block, over all tiles of a stretch.
  void MultiplyTaps(int64_t block, int64_t begin, int64_t end, int64_t tiles,
                    bool adds, const TapMatrices& sums) const {
    const WeightRange range = RangeOf(block);
    for (int64_t tap = begin; tap < end; ++tap) {
      Multiply(
          {.left = {source_.Chunk(tap, range.first_input / kChunk), 1, kChunk},
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
      .barriers = 2 * Stretches(conv, threads) + more,
      .imbalance = Imbalance(Blocks(conv) * TapParts(conv, threads), threads)};
}

int64_t WeightGradientFloats(const TiledConvolution& conv, int threads) {
  const int64_t tiles = TilesOfStretch(conv, threads);
  const int64_t places = KeepsSums(conv, threads) ? Blocks(conv) : threads;
  return TapMatrices::Floats(tiles, conv.source.channels) +
         TapMatrices::Floats(tiles, conv.result.channels) +
         places * BlockFloats();
}

void DifferentiateByWeights(const TiledConvolution& conv,
                            const WeightGradientArgs& args, int threads) {
  WeightGradient(conv, args, threads).Run();
}

}  // namespace partita
