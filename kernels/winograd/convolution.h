// 3x3 convolutions of stride 1 and their gradients by Winograd's F(4x4, 3x3):
// Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015).
//
// 36 products instead of 144. Transformed values stay in a core's caches.
// Weights are transformed, 64 by 64 channels at a time, right before they are
// multiplied, so they are cheap even if there are many for few images, as in
// the last layers of a network with a sharded batch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_CONVOLUTION_H_
#define PARTITA_KERNELS_WINOGRAD_CONVOLUTION_H_

#include <cstdint>

#include "kernels/winograd/tiled_images.h"

namespace partita {

// f32 throughout; channels of both sides are multiples of 16. The order of sums
// does not depend on the threads: along the channels (for the gradient by the
// weights, along the tiles) 64 products and then the next 64, as in
// block_product.h, which defines their rounding.
struct TiledConvolution {
  TiledImages source;
  TiledImages result;
  // As in a transposed convolution: rotated by 180 degrees, with shape
  // [source's channels, result's channels, 3, 3] instead of [result's,
  // source's, 3, 3].
  bool turned = false;
};

// A convolution whose windows begin `top` and `left` positions before the
// image.
TiledConvolution TileConvolution(int64_t images, int64_t channels,
                                 int64_t height, int64_t width,
                                 int64_t result_channels, int64_t result_height,
                                 int64_t result_width, int64_t top,
                                 int64_t left);

// The work of a launch besides its products, for estimates.
struct TiledWork {
  int64_t weight_transforms;  // for each pair of channels
  int64_t barriers;           // of all threads
  // The largest share of the products of a thread, over the mean.
  double imbalance;
};
TiledWork ConvolutionWork(const TiledConvolution& conv, int threads);
TiledWork WeightGradientWork(const TiledConvolution& conv, int threads);

// Floats of workspace.
int64_t ConvolutionFloats(const TiledConvolution& conv, int threads);
int64_t WeightGradientFloats(const TiledConvolution& conv, int threads);

// Images are in blocks of 16 channels, weights row-major. `bias` has one float
// for each of the result's channels, or is null. Fastest if everything is
// aligned to 64 bytes.
struct ConvolutionArgs {
  const float* x;
  const float* w;
  const float* bias;
  float* y;
  float* workspace;
};
void Convolve(const TiledConvolution& conv, const ConvolutionArgs& args,
              int threads);

struct WeightGradientArgs {
  const float* x;
  const float* dy;
  float* dw;
  float* workspace;
};
// For a convolution that is not `turned`.
void DifferentiateByWeights(const TiledConvolution& conv,
                            const WeightGradientArgs& args, int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_CONVOLUTION_H_
