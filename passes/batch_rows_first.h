// Puts the batch first in reshapes that merge it with another dimension.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_BATCH_ROWS_FIRST_H_
#define PARTITA_PASSES_BATCH_ROWS_FIRST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "passes/pass_context.h"

namespace partita {

// In rows [12 * 4, 32], over 12 positions of a batch of 4, the rows of an
// example are not contiguous; in rows [4 * 12, 32] they are.
//
//   before                                  after
//                                           %u = transpose %x
//                                               {perm = [1, 0, 2]}
//   %r = reshape %x {shape = [48, 32]}      %r = reshape %u {shape = [48, 32]}
//   %m = matmul %r, %w                      %m = matmul %r, %w
//   %y = reshape %m {shape = [12, 4, 32]}   %t = reshape %m
//                                               {shape = [4, 12, 32]}
//                                           %y = transpose %t
//                                               {perm = [1, 0, 2]}
//
// Needs: readers of such rows treat each row independently or sum over all
// rows, up to reshapes that split the rows again. Skips: other reshapes, and
// reshapes that a pin shards. Leaves: transposes that other passes may cancel.
absl::Status BatchRowsFirst(Graph& graph, const PassContext& context);
// The same without a context.
absl::Status BatchRowsFirst(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_BATCH_ROWS_FIRST_H_
