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

// True if the node makes another value in each micro-batch though it reads the
// same: random numbers, with an origin that advances.
bool ChangesWithMicroBatch(const OpView& node);

// By value id: it differs from one micro-batch to the next, as inputs do of
// which each takes its part, random numbers, and what reads such values. Sums
// over micro-batches do not. `inputs` by index; empty if none does.
std::vector<bool> VaryingValues(const Graph& graph,
                                const std::vector<bool>& inputs);

// True if what an instance computes is not the node itself: it is cut, changes
// with the micro-batch, or adds to a sum.
bool HasOwnInstances(const OpView& node);

// What stands for all instances where any will do, as for a choice of kernels:
// the first micro-batch is no sum yet.
inline constexpr int kTypicalMicroBatch = 1;

// A graph of one node: what member `member` computes in a micro-batch, with its
// types, layouts, attributes and kernel; of a fused node with the member's part
// of its body; of `accumulate` with the sum so far as operand 1, but in
// micro-batch 0. Unimplemented where the node, or one of its body, has no such
// part.
absl::StatusOr<std::unique_ptr<Graph>> CutNode(const OpView& node, int member,
                                               int micro_batch = 0);

}  // namespace partita

#endif  // PARTITA_GRAPH_INSTANCE_H_
