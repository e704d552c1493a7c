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
// member `principal`. It has an operand for each way in which members read a
// value: %x twice for a sum of %x and a product that reads it.
absl::StatusOr<NodeId> MakeFused(Graph& graph,
                                 const std::vector<NodeId>& members,
                                 NodeId principal);

// False if the members' joint placement divides their results, and one node of
// them all could not be divided so: each of them may have other groups.
absl::StatusOr<bool> KeepsDivision(const Graph& graph,
                                   const std::vector<NodeId>& members);

// Replaces a `fused` node by the nodes of its body, each with the fused node's
// placement, scope and location.
absl::Status InlineFused(Graph& graph, NodeId fused);

}  // namespace partita

#endif  // PARTITA_PASSES_MAKE_FUSED_H_
