// Computes at compile time what depends on constants only.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FOLD_CONSTANTS_H_
#define PARTITA_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Replaces each node whose operands are all constants by the constants that its
// eval gives.
//
//   before                       after
//   %a = constant f32[2] [1, 2]  %b = constant f32[2] [-1, -2]
//   %b = neg %a
//
// A small file can describe endless constants, so a graph may fold as many
// bytes in all as FoldingBudget says; a node whose results do not fit in what
// is left of that stays, and is computed where it is read.
//
// Skips: random ops, reads of variables, and constants whose bytes are only
// declared.
absl::Status FoldConstants(Graph& graph);

// 64 MiB, and sixteen times the bytes of the constants that the graph holds:
// weights that are cast, dequantised and transposed on their way take a few
// times their size.
int64_t FoldingBudget(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FOLD_CONSTANTS_H_
