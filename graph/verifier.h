// Checks the invariants of every graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_VERIFIER_H_
#define PARTITA_GRAPH_VERIFIER_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Definitions precede uses. Use lists agree with operands. Attributes, operands
// and bodies are as the op declares them. Types are as it infers them, with
// layouts of their rank. Outputs and updates exist. Placements and kernel
// bindings fit their node. InvalidArgument with the first 20 faults, one on
// each line, such as
//
//   @f: relu %y: found operand 0 without a definition before it; expected an
//   input or an earlier result; move the node after it
absl::Status Verify(const Graph& graph);

// Checks each function, that its variables are the module's with the same types
// and at most one update, and that names are unique.
absl::Status VerifyModule(const Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_VERIFIER_H_
