// Common subexpressions: computes equal things once.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MERGE_DUPLICATES_H_
#define PARTITA_PASSES_MERGE_DUPLICATES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Merges nodes with the same op, operands and attributes into the first of
// them; constants are the same if their bytes and types are.
//
//   before                       after
//   %a = relu %x                 %a = relu %x
//   %b = relu %x                 %c = add %a, %a
//   %c = add %a, %b
//
// Constants are read, to hash them, where two have the same type.
//
// Skips: random ops and nodes with bodies.
absl::Status MergeDuplicates(Graph& graph);

// The same, telling how many pairs of nodes were compared: about as many as
// nodes were merged, whatever the graph.
absl::Status MergeDuplicates(Graph& graph, int64_t& comparisons);

}  // namespace partita

#endif  // PARTITA_PASSES_MERGE_DUPLICATES_H_
