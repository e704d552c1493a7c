// Turns transposed convolutions whose windows do not overlap into 1x1 ones.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_
#define PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A transposed convolution whose stride is its kernel writes one block of the
// plane per input position: a 1x1 convolution to the block's channels, put in
// place. Activations behind it move before the move, where they fuse.
//
//   before                                after
//   %c = conv_transpose %x, %w, %b       %c = conv %x, %w.unfolded, %b.repeated
//   %y = relu %c                         %r = relu %c
//                                        %y = depth_to_space %r {block = 2}
//
// Needs: two spatial dimensions, a square kernel of 2 and more as wide as the
// stride, one group, no padding or dilation, constant weights (and bias).
absl::Status UnfoldConvTranspose(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_
