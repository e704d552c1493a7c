// Removes nodes without readers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REMOVE_DEAD_H_
#define PARTITA_PASSES_REMOVE_DEAD_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Removes nodes whose results are not read by any node, output or update.
//
//   before                       after
//   %a = relu %x                 %b = neg %x
//   %b = neg %x                  return %b
//   return %b
//
// Leaves: graph inputs, which are the caller's, and variables with updates.
absl::Status RemoveDead(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REMOVE_DEAD_H_
