// Computes nodes at compile time if they depend only on constants.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FOLD_CONSTANTS_H_
#define PARTITA_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces each node with constant operands by the constants that its eval
// computes.
//
//   before                       after
//   %a = constant f32[2] [1, 2]  %b = constant f32[2] [-1, -2]
//   %b = neg %a
//
// A small file can describe huge constants, so FoldingBudget limits the total
// folded bytes of a graph. A node whose results exceed the rest of the budget
// is not folded.
//
// Skips: random ops, reads of variables, and constants without bytes.
absl::Status FoldConstants(Graph& graph);

// 64 MiB plus sixteen times the bytes of the graph's constants: weights that
// are cast, dequantised and transposed take a few times their size.
int64_t FoldingBudget(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FOLD_CONSTANTS_H_
