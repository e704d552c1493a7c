// Puts the batch first where a reshape makes rows of it and another dimension.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_BATCH_ROWS_FIRST_H_
#define PARTITA_PASSES_BATCH_ROWS_FIRST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// Of rows [12 * 4, 32] over 12 positions of a batch of 4 no example has a block
// of its own; of rows [4 * 12, 32] each has.
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
// Needs: all that reads such rows computes each by itself or sums over them, of
// such rows alone, up to reshapes that take them apart again. Leaves the rest
// as it is, and reshapes that a pin divides. The batch is that of these inputs
// (FindBatch). Leaves: transposes that others may cancel.
absl::Status BatchRowsFirst(Graph& graph,
                            absl::Span<const std::string> batch_inputs);
// The same without names.
absl::Status BatchRowsFirst(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_BATCH_ROWS_FIRST_H_
