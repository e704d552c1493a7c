// Moves nodes of a graph into the body of a fused node, and back.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_MAKE_FUSED_H_
#define PARTITA_PASSES_MAKE_FUSED_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "passes/pass_context.h"

namespace partita {

// Replaces `nodes`, in graph order, by one `fused` node at the last one's
// position. Its results are those of the last node and, in order, results of
// other ones that are outputs or updates of the graph; other nodes may read
// only results of the last one. The new node has the nodes' joint
// placement (passes/joint_placement.h), the results' names, and scope and
// location of node `principal`. It has an operand for each way in which
// nodes read a value: %x twice for a sum of %x and a product that reads it.
absl::StatusOr<NodeId> MakeFused(Graph& graph, const std::vector<NodeId>& nodes,
                                 NodeId principal);

// False if the nodes' joint placement shards their results but a fused node
// of them could not be sharded like this, for example as their groups differ.
absl::StatusOr<bool> KeepsDivision(const Graph& graph,
                                   const std::vector<NodeId>& nodes);

// True if a device that may compute the nodes (of their joint placement, or
// any) has a kernel for a fused node of them. Fusions ask this first: what no
// kernel computes whole is not fused, as it would only be taken apart when
// kernels are chosen.
absl::StatusOr<bool> HasKernel(const Graph& graph,
                               const std::vector<NodeId>& nodes,
                               const PassContext& context);

// Replaces a `fused` node by the nodes of its body, each with the fused node's
// placement, scope and location.
absl::Status InlineFused(Graph& graph, NodeId fused);

}  // namespace partita

#endif  // PARTITA_PASSES_MAKE_FUSED_H_
