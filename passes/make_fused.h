// Moves nodes of a graph into the body of one fused node, and back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MAKE_FUSED_H_
#define PARTITA_PASSES_MAKE_FUSED_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace partita {

// Replaces `members`, in graph order, by one `fused` node at the last member's
// place. Its results are the last member's and, in order, those of others that
// are outputs or updates of the graph; no other node may read these or the
// rest. All members have a joint placement (passes/joint_placement.h), which
// the new node takes over, with the results' names, and scope and location of
// member `principal`.
absl::StatusOr<NodeId> MakeFused(Graph& graph,
                                 const std::vector<NodeId>& members,
                                 NodeId principal);

// Replaces a `fused` node by the nodes of its body, each with the fused node's
// placement, scope and location.
absl::Status InlineFused(Graph& graph, NodeId fused);

}  // namespace partita

#endif  // PARTITA_PASSES_MAKE_FUSED_H_
