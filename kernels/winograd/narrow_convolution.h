// Convolutions whose channels are one chunk on either side: what a thread needs
// for a few tiles lies in its core's second cache, transformed weights and all.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_
#define PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_

#include <cstdint>

#include "kernels/winograd/convolution.h"

namespace partita {

bool IsNarrow(const TiledConvolution& conv);

// As convolution.h has them for all, with the same bits; of narrow ones only.
TiledWork NarrowWork(const TiledConvolution& conv, int threads);
int64_t NarrowFloats(const TiledConvolution& conv, int threads);
void ConvolveNarrow(const TiledConvolution& conv, const ConvolutionArgs& args,
                    int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_WINOGRAD_NARROW_CONVOLUTION_H_
