// Folds a scale or shift per channel into the convolution before it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FOLD_AFFINE_INTO_CONV_H_
#define PARTITA_PASSES_FOLD_AFFINE_INTO_CONV_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// A convolution times or plus a constant per channel is a convolution with
// other weights or another bias.
//
//   before                       after
//   %c = conv %x, %w             %y = conv %x, %w.scaled
//   %y = mul %c, %s
//
// Needs: constant weights (and bias) that only the convolution reads, and a
// result that only the scale or shift reads. Works on conv and conv_transpose.
// The new weights are computed in double and rounded once.
absl::Status FoldAffineIntoConv(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FOLD_AFFINE_INTO_CONV_H_
