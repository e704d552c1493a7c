// Shards updates of large variables over replicas (sharded optimizer).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_SHARD_UPDATES_H_
#define PARTITA_PLACEMENT_PARTITION_SHARD_UPDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/graph.h"
#include "placement/partition/node_sharder.h"

namespace partita {

// Sharded optimizer, as in ZeRO stage 1 (Rajbhandari et al. 2020). ShardBatch
// leaves a partial sum over the batch on each rank, which needs an all-reduce.
// If only updates need the sum, each rank takes a shard of it along dimension 0
// instead, and computes the update of that shard. Partition then makes a
// reduce-scatter of the sum and an all-gather of the variable's new value:
//
//   %g = matmul ... (split 1, split 0) -> (partial sum)
//   %g.split0 = copy %g (partial sum) -> (split 0)
//   %n = fused %g.split0, %w.split0 ... (split 0, split 0) -> (split 0)
//   %w.next = copy %n (split 0) -> (replicated)
//
// A variable that only such updates read, such as an optimizer's momentum, is
// stored as shards. Sums of fewer than `least_bytes`, and sums with other
// readers, stay whole. Elementwise updates keep every bit. A sum over a whole
// gradient, such as its norm, is added in another order.
// `sharding` is the result of ShardBatch for the same graph, ranks and
// `is_whole`.
void ShardUpdates(const Graph& graph, absl::InlinedVector<std::string, 1> ranks,
                  const std::vector<bool>& is_whole, int64_t least_bytes,
                  BatchSharding& sharding);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_SHARD_UPDATES_H_
