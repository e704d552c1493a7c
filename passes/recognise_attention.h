// Recognises attention that is decomposed into products and a softmax.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_RECOGNISE_ATTENTION_H_
#define PARTITA_PASSES_RECOGNISE_ATTENTION_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces attention as exporters write it by the op `attention`, whose kernel
// stores no scores in memory.
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
// For f32 with three or four dimensions. The scale may apply to queries, keys
// or scores, as a product or quotient. A mask is added, or selects minus
// infinity or a number below -1e30 with `where`, which is exact for finite
// scores. c * tanh(scores / c) is a softcap. NaN weights may be replaced by 0.
// Leaves: transposes for `cancel_transpose_pair`, masks and repeated heads for
// `simplify_attention`. Skips: scores with other readers, ops with different
// pins, and pins that shard dimensions other than samples and heads.
absl::Status RecogniseAttention(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_RECOGNISE_ATTENTION_H_
