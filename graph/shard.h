// The shard of a node or value that one rank of its device set has.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_SHARD_H_
#define PARTITA_GRAPH_SHARD_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "graph/ids.h"
#include "graph/op_view.h"
#include "graph/placement.h"

namespace partita {

// Entry `i` of a placement's list; replicated if the list is empty.
Sharding ShardingOf(const std::vector<Sharding>& shardings, int i);

// The type of the shard of rank `rank` of `ranks`.
TensorType ShardType(const TensorType& whole, const Sharding& sharding,
                     int rank, int ranks);

// The rank's shard of a tensor, in the tensor's layout. JoinShards makes the
// whole tensor from all shards. Replicas and partial sums have the whole
// extents.
HostTensor ShardOf(const HostTensor& whole, const Sharding& sharding, int rank,
                   int ranks);
HostTensor JoinShards(const TensorType& whole, const Sharding& sharding,
                      const std::vector<const HostTensor*>& shards);

// The initial bytes of rank `rank` of a constant or variable. `literal` is the
// rank's shard, or the whole value in any layout.
absl::StatusOr<HostTensor> FirstBytes(const OpView& node, int rank,
                                      const HostTensor& literal);

// The placements of the nodes in the body of a fused node at `outer`, in order:
// each node is sharded along the one factor of its operands.
std::vector<Placement> BodyPlacements(const Graph& body,
                                      const Placement& outer);

// True if a value of the node is split, so that ranks run shards of it.
bool IsSharded(const OpView& node);

// True if the node makes different values in each micro-batch from equal
// operands: random numbers, with an origin that advances.
bool ChangesWithMicroBatch(const OpView& node);

// By value id: true if the value differs between micro-batches. These are
// `inputs` (by index; empty: none), random numbers, and values that depend on
// them. Sums over micro-batches do not differ.
std::vector<bool> VaryingValues(const Graph& graph,
                                const std::vector<bool>& inputs);

// True if an instance computes another node: a shard, random numbers with an
// origin that advances, or a step of a sum. Under the node's own placement, or
// under another one.
bool HasOwnShards(const OpView& node);
bool HasOwnShards(const OpView& node, const Placement& placement);

// The micro-batch that represents all of them, for example in the choice of
// kernels. Not the first, which has no sum to add to.
inline constexpr MicroBatchId kTypicalMicroBatch{1};

// A graph of one node: what rank `rank` computes in a micro-batch, with its
// types, layouts, attributes and kernel. A fused node has the rank's shard of
// its body. `accumulate` has the sum so far as operand 1, except in micro-batch
// 0. Unimplemented if the node, or a node of its body, has no such shard.
absl::StatusOr<std::unique_ptr<Graph>> ShardOfNode(
    const OpView& node, int rank, MicroBatchId micro_batch = kFirstMicroBatch);
// The same under another placement than the node's own.
absl::StatusOr<std::unique_ptr<Graph>> ShardOfNode(const OpView& node,
                                                   const Placement& placement,
                                                   int rank,
                                                   MicroBatchId micro_batch);

// By rank of the placement: false if its shard of the node in one micro-batch
// equals that of the rank before it. A rank that has true may still have an
// equal shard. Makes no shards.
std::vector<bool> RanksWithOtherShards(const OpView& node,
                                       const Placement& placement);

}  // namespace partita

#endif  // PARTITA_GRAPH_SHARD_H_
