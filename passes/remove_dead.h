// Removes what nothing reads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_REMOVE_DEAD_H_
#define PARTITA_PASSES_REMOVE_DEAD_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Removes nodes none of whose results is read, by a node, an output or an
// update.
//
//   before                       after
//   %a = relu %x                 %b = neg %x
//   %b = neg %x                  return %b
//   return %b
//
// Leaves: graph inputs, read or not; they are the caller's. Variables that
// updates name, which is where their values go.
absl::Status RemoveDead(Graph& graph);

}  // namespace partita

#endif  // PARTITA_PASSES_REMOVE_DEAD_H_
