// Replaces an inference batch norm by one scale and one shift.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_DECOMPOSE_BATCH_NORM_H_
#define PARTITA_PASSES_DECOMPOSE_BATCH_NORM_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// With constant statistics a batch norm is x * s + t, with one s and t per
// channel.
//
//   before                                          after
//   %y = batch_norm %x, %scale, %bias, %mean, %var  %m = mul %x, %s
//                                                   %y = add %m, %t
//
// Needs: constant scale, bias, mean and variance. Leaves: the mul and add for
// `fold_affine_into_conv`. The new constants are computed in double.
absl::Status DecomposeBatchNorm(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_DECOMPOSE_BATCH_NORM_H_
