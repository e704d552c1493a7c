// Turns transposed convolutions with disjoint windows into 1x1 convolutions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_
#define PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A transposed convolution with stride equal to its kernel size writes one
// block of the plane for each input position. So it is a 1x1 convolution to the
// block's channels, followed by depth_to_space. Activations after it move
// before depth_to_space, where they can be fused.
//
//   before                                after
//   %c = conv_transpose %x, %w, %b       %c = conv %x, %w.unfolded, %b.repeated
//   %y = relu %c                         %r = relu %c
//                                        %y = depth_to_space %r {block = 2}
//
// Needs: two spatial dimensions, a square kernel of size 2 or more equal to the
// stride, one group, no padding or dilation, constant weights (and bias).
absl::Status UnfoldConvTranspose(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_UNFOLD_CONV_TRANSPOSE_H_
