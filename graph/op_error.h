// The error for a fault in a user's graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_OP_ERROR_H_
#define PARTITA_GRAPH_OP_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"

namespace partita {

// InvalidArgument "LOCATION: softmax %p: found FOUND; expected EXPECTED; FIX".
absl::Status BadOp(const OpView& op, absl::string_view found,
                   absl::string_view expected, absl::string_view fix);

}  // namespace partita

#endif  // PARTITA_GRAPH_OP_ERROR_H_
