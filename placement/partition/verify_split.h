// Proves that a placed graph computes the same as the optimised graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_
#define PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Proves that `placed` computes the same as `optimised`, up to the order of
// sums. Uses only structure and dimension rules; shares no code with partition.
// It checks:
//  1. Except copies, reorders, buckets, constants and variables, the nodes of
//     both graphs match one to one, in any order: same op, attributes, bodies
//     and types.
//  2. Results of copies, reorders and buckets are the values of their operands.
//     Constants of the same literal are one value, and so are reads of one
//     variable. With this, operands, outputs and updates are the same values.
//  3. A sharded node is sharded along one factor with independent shards: each
//     value with the factor is split there, each other value is whole on every
//     rank, and inference on each shard gives the shard of each result. So the
//     shards make up the values. Or the node reads and makes partial sums: a
//     reorder, or a sum over micro-batches.
// Both graphs must use the same literals. Internal, "bug: ...", lists the first
// 20 differences.
absl::Status VerifySplit(const Graph& optimised, const Graph& placed);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VERIFY_SPLIT_H_
