// Convolutions with at most one chunk of channels on either side: a thread's
// data for a few tiles, transformed weights included, fit into its core's
// second-level cache.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_
#define PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_

#include <cstdint>

#include "kernels/winograd/convolution.h"

namespace partita {

bool IsNarrow(const TiledConvolution& conv);

// Like those of convolution.h, with the same bits; for narrow ones only.
TiledWork NarrowWork(const TiledConvolution& conv, int threads);
int64_t NarrowFloats(const TiledConvolution& conv, int threads);
void ConvolveNarrow(const TiledConvolution& conv, const ConvolutionArgs& args,
                    int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_
