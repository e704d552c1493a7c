// Shards the batch of a graph, node by node: over replicas or micro-batches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_SHARD_BATCH_H_
#define PARTITA_PLACEMENT_PARTITION_SHARD_BATCH_H_

#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/batch.h"
#include "graph/graph.h"
#include "placement/partition/node_sharder.h"

namespace partita {

// Inputs that hold the batch are split along it. Forward pass: a node that
// reads a split value is sharded along the same factor if its dimension rule
// allows. If the node sums over that factor, each rank has a partial sum; a
// rank accumulates its partial sums over micro-batches without communication.
// Backward pass: a value that only sharded nodes read is sharded as they read
// it. `ranks` names the ranks, as a placement names devices. Nodes with
// `is_whole` (by node id), constants and variables are not sharded.
BatchSharding ShardBatch(const Graph& graph, const Batch& batch,
                         absl::InlinedVector<std::string, 1> ranks,
                         const std::vector<bool>& is_whole);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_SHARD_BATCH_H_
