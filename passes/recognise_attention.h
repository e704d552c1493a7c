// Names attention that is spelled out in products and a softmax.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_RECOGNISE_ATTENTION_H_
#define PARTITA_PASSES_RECOGNISE_ATTENTION_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces attention as exporters spell it by the op, whose kernel keeps no
// scores in memory.
//
//   before                                 after
//   %t = transpose %k                      %y = attention %q, %k, %v, %mask
//       {perm = [0, 1, 3, 2]}                  {scale = 0.125}
//   %s = matmul %q, %t
//   %d = mul %s, 0.125
//   %m = add %d, %mask
//   %p = softmax %m
//   %y = matmul %p, %v
//
// For f32 of three or four dimensions. The scale may stand at queries, keys or
// scores, as product or quotient; a mask is added, or chooses minus infinity or
// a number below -1e30 with `where`, which is exact for scores that are finite;
// c * tanh(scores / c) is a softcap. Shares that are NaN may be replaced by 0.
// Leaves: transposes for `cancel_transpose_pair`, masks and repeated heads for
// `simplify_attention`. Skips: scores that something else reads, and ops that
// are pinned apart, or together divided by anything but samples or heads.
absl::Status RecogniseAttention(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_RECOGNISE_ATTENTION_H_
