// Recognises RMS norms that are decomposed into simple ops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_RECOGNISE_RMS_NORM_H_
#define PARTITA_PASSES_RECOGNISE_RMS_NORM_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces RMS norms as exporters write them by a layer norm without center,
// which is one command.
//
//   before                                       after
//   %s = mul %x, %x                              %y = layer_norm %x, %w
//   %m = reduce_mean %s {axes = [2]}                 {axis = 2,
//   %a = add %m, 1e-06                                center = false, ..}
//   %d = sqrt %a
//   %r = reciprocal %d
//   %n = mul %x, %r
//   %y = mul %w, %n
//
// For f32. The square may be a power, the root a power of -1/2 or a division.
// Without a following scale of the normalised extents, the scale is 1. Skips:
// inner values with other readers, and ops with different pins.
absl::Status RecogniseRmsNorm(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_RECOGNISE_RMS_NORM_H_
