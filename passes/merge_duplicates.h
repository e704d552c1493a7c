// Common subexpression elimination.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MERGE_DUPLICATES_H_
#define PARTITA_PASSES_MERGE_DUPLICATES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Merges nodes with the same op, operands and attributes into the first of
// them. Constants are the same if their bytes and types are equal.
//
//   before                       after
//   %a = relu %x                 %a = relu %x
//   %b = relu %x                 %c = add %a, %a
//   %c = add %a, %b
//
// Reads and hashes constants only if two have the same type.
//
// Skips: random ops and nodes with bodies.
absl::Status MergeDuplicates(Graph& graph);

// The same; also returns the number of compared pairs of nodes. It is about the
// number of merged nodes for every graph.
absl::Status MergeDuplicates(Graph& graph, int64_t& comparisons);

}  // namespace partita

#endif  // PARTITA_PASSES_MERGE_DUPLICATES_H_
