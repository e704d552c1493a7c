// Faults of extents: other extents of the inputs may be right.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_EXTENT_ERROR_H_
#define PARTITA_GRAPH_EXTENT_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/op_view.h"

namespace partita {

// Marks the error of a node that cannot compute with the extents of its
// operands, but may with others: not one of its attributes, ranks or element
// types.
absl::Status OfExtents(absl::Status status);
bool IsOfExtents(const absl::Status& status);

// BadOp (op_error.h), marked.
absl::Status BadExtents(const OpView& op, absl::string_view found,
                        absl::string_view expected, absl::string_view fix);

}  // namespace partita

#endif  // PARTITA_GRAPH_EXTENT_ERROR_H_
