// Updates of large variables divided among replicas.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_DIVIDE_UPDATES_H_
#define PARTITA_PLACEMENT_PARTITION_DIVIDE_UPDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/graph.h"
#include "placement/partition/node_cutter.h"

namespace partita {

// Where DivideBatch left a sum over the batch to be joined for every part, and
// only updates wait for it, each part takes a share of it instead, along
// dimension 0, and computes the update of that share: stage 1 of ZeRO
// (Rajbhandari et al. 2020). Partition then scatters the sum and gathers what
// the variable becomes:
//
//   %g = matmul ... (split 1, split 0) -> (partial sum)
//   %g.split0 = copy %g (partial sum) -> (split 0)
//   %n = fused %g.split0, %w.split0 ... (split 0, split 0) -> (split 0)
//   %w.next = copy %n (split 0) -> (replicated)
//
// A variable that only such updates read, as an optimizer's momentum, is there
// in parts. Sums of fewer than `least_bytes`, and those that something else
// reads too, stay whole. No bit changes where updates go element by element;
// what sums over a whole gradient, as its norm, adds in another order.
// `division` is DivideBatch's of the same graph, parts and `is_whole`.
void DivideUpdates(const Graph& graph,
                   absl::InlinedVector<std::string, 1> parts,
                   const std::vector<bool>& is_whole, int64_t least_bytes,
                   BatchDivision& division);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_DIVIDE_UPDATES_H_
