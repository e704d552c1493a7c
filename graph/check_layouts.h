// Checks the layouts of nodes whose bytes are passed on as they are.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_CHECK_LAYOUTS_H_
#define PARTITA_GRAPH_CHECK_LAYOUTS_H_

#include "absl/status/status.h"
#include "graph/op_view.h"

namespace partita {

// A copy, a bucket and a sum over micro-batches (ops that are `placed_only` and
// `keeps_layout`) pass bytes on without a kernel, the sum those of its first
// summand. So each result must have the layout of its operand, and a value that
// is split otherwise than its operand, or no longer, must be row-major, as its
// shards are blocks of row-major bytes. OK for other nodes: their kernels state
// layouts. InvalidArgument if not; the message names no node. The node must be
// of a graph that has passed Verify.
absl::Status CheckLayouts(const OpView& node);

}  // namespace partita

#endif  // PARTITA_GRAPH_CHECK_LAYOUTS_H_
