// Computes at compile time what depends on constants only.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_FOLD_CONSTANTS_H_
#define PARTITA_PASSES_FOLD_CONSTANTS_H_

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
// Skips: random ops, reads of variables, constants whose bytes are only
// declared, and results of more than a gibibyte that are larger than all
// operands together (an expand of a scalar is better done where it is read).
absl::Status FoldConstants(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_FOLD_CONSTANTS_H_
