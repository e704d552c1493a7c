// Each thread transforms the weights once and takes groups of tiles from source
// to result. No thread waits for another before all are done.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/winograd/narrow_convolution.h"

#include <algorithm>

#include "kernels/thread_pool/parallel_for.h"
#include "kernels/vector/block_product.h"
#include "kernels/winograd/image_transforms.h"
#include "kernels/winograd/tap_matrices.h"
#include "kernels/winograd/weight_transforms.h"
#include "kernels/winograd/work_split.h"

namespace partita {
namespace {

// Tiles of a group. With the weights of 64 by 64 channels they take 0.9 MB.
constexpr int64_t kMostTiles = 32;
// With fewer, the products would have too few rows, even if threads are idle.
constexpr int64_t kFewTiles = 16;

int64_t GroupOf(const TiledConvolution& conv, int threads) {
  return std::clamp(PartsOf(conv.source.tiles(), threads), kFewTiles,
                    kMostTiles);
}

int64_t Groups(const TiledConvolution& conv, int threads) {
  return PartsOf(conv.source.tiles(), GroupOf(conv, threads));
}

// One thread's part of the workspace: weights, and the taps of a group, with
// room for one more tap.
int64_t WeightFloats() { return TapMatrices::Floats(kChunk, kChunk); }
int64_t ThreadFloats(int64_t group) {
  return WeightFloats() +
         TapMatrices::Floats(group, kChunk) / kTaps * (kTaps + 1);
}

class ThreadShare {
 public:
  ThreadShare(const TiledConvolution& conv, const ConvolutionArgs& args,
              int64_t group, float* share)
      : conv_(conv),
        args_(args),
        weights_(share, kChunk, kChunk),
        products_(share + WeightFloats(), group, kChunk),
        source_(products_.Chunk(1, 0), group, kChunk) {
    if (conv.turned) {
      TransformTurnedWeights(args.w, {outputs(), 0, inputs(), 0, outputs()},
                             weights_);
    } else {
      TransformWeights(args.w, {inputs(), 0, outputs(), 0, inputs()}, weights_);
    }
  }

  void Run(int64_t first, int64_t count) const {
    TransformSource(conv_.source, args_.x, {first, count, 0, 0}, source_);
    // A tap's products overwrite the source of the previous tap.
    for (int64_t tap = 0; tap < kTaps; ++tap) {
      Multiply({.left = {source_.Chunk(tap, 0), kChunk, 1},
                .right = {weights_.Chunk(tap, 0), kChunk},
                .result = {products_.Chunk(tap, 0), kChunk},
                .m = count,
                .n = outputs(),
                .k = inputs()});
    }
    TransformToResult(conv_.result, products_, {first, count, 0, 0}, args_.bias,
                      args_.y);
  }

 private:
  int64_t inputs() const { return conv_.source.channels; }
  int64_t outputs() const { return conv_.result.channels; }

  const TiledConvolution& conv_;
  const ConvolutionArgs& args_;
  TapMatrices weights_;
  TapMatrices products_;
  TapMatrices source_;
};

}  // namespace

bool IsNarrow(const TiledConvolution& conv) {
  return conv.source.channels <= kChunk && conv.result.channels <= kChunk;
}

TiledWork NarrowWork(const TiledConvolution& conv, int threads) {
  const int64_t groups = Groups(conv, threads);
  return {.weight_transforms = std::min<int64_t>(groups, threads),
          .barriers = 1,
          .imbalance = Imbalance(groups, threads)};
}

int64_t NarrowFloats(const TiledConvolution& conv, int threads) {
  return threads * ThreadFloats(GroupOf(conv, threads));
}

void ConvolveNarrow(const TiledConvolution& conv, const ConvolutionArgs& args,
                    int threads) {
  const int64_t group = GroupOf(conv, threads);
  ParallelForRanges(
      threads, Groups(conv, threads),
      [&](int thread, int64_t begin, int64_t end) {
        if (begin == end) return;
        const ThreadShare convolution(
            conv, args, group, args.workspace + thread * ThreadFloats(group));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = i * group;
          convolution.Run(first, std::min(group, conv.source.tiles() - first));
        }
      });
}

}  // namespace partita
