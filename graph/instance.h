// The part of a sharded node or value that one member of its device set has.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_INSTANCE_H_
#define PARTITA_GRAPH_INSTANCE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// Entry `i` of a placement's list; replicated if the list is empty.
Sharding ShardingOf(const std::vector<Sharding>& shardings, int i);

// The type that member `member` of `members` holds of a value.
TensorType InstanceType(const TensorType& whole, const Sharding& sharding,
                        int member, int members);

// The member's part of a tensor, in the tensor's layout; and the whole of all
// members' parts. Replicas and partial sums are not cut.
HostTensor CutInstance(const HostTensor& whole, const Sharding& sharding,
                       int member, int members);
HostTensor JoinInstances(const TensorType& whole, const Sharding& sharding,
                         const std::vector<const HostTensor*>& parts);

// What member `member` of a constant's or variable's node holds at first:
// `literal` is that part, or the whole value in any layout.
absl::StatusOr<HostTensor> FirstBytes(const OpView& node, int member,
                                      const HostTensor& literal);

// Where a fused node at `outer` computes the nodes of its body, in their order:
// each is cut along the one factor that its operands carry.
std::vector<Placement> BodyPlacements(const Graph& body,
                                      const Placement& outer);

// True if a member computes another node than the whole one.
bool IsCut(const OpView& node);

// A graph of one node: what member `member` computes, with its types, layouts,
// attributes and kernel; of a fused node with the member's part of its body.
// Unimplemented where the node, or one of its body, has no such part.
absl::StatusOr<std::unique_ptr<Graph>> CutNode(const OpView& node, int member);

}  // namespace partita

#endif  // PARTITA_GRAPH_INSTANCE_H_
