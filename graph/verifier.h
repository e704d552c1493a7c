// Checks what every graph must keep.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_VERIFIER_H_
#define PARTITA_GRAPH_VERIFIER_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Definitions before uses; use lists that agree with the operands; attributes,
// operands and bodies as the op declares them; types as it infers them, with
// layouts of their rank; outputs and updates that exist; placements and kernel
// bindings that fit their node. InvalidArgument with the first 20 faults, one a
// line, such as
//
//   @f: relu %y: found operand 0 without a definition before it; expected an
//   input or an earlier result; move the node behind it
absl::Status Verify(const Graph& graph);

// Each function; that its variables are the module's, of their types, and
// updated once at most; and that names are not given twice.
absl::Status VerifyModule(const Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_VERIFIER_H_
