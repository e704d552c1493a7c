// Recognises activations that are decomposed into simple ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_RECOGNISE_ACTIVATIONS_H_
#define PARTITA_PASSES_RECOGNISE_ACTIVATIONS_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces the forms in which exporters write hard_swish, silu and gelu by
// these ops, so that kernels support one form only.
//
//   before                                 after
//   %a = add %x, 3                         %y = hard_swish %x
//   %c = clip %a {min = 0, max = 6}
//   %m = mul %x, %c
//   %y = div %m, 6
//
// Also 0.5 * x * (1 + erf(x / sqrt(2))), with the factors in any order,
// x * hard_sigmoid(x) with alpha 1/6 and beta 1/2, and x * sigmoid(x).
// Skips: inner values with other readers.
absl::Status RecogniseActivations(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_RECOGNISE_ACTIVATIONS_H_
