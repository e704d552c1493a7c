// Proves that the micro-batches of a graph compute the same as the graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_
#define PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Proves that `count` instances of `micro_batch`, put together, are `whole`.
// Uses only structure and dimension rules; shares no code with
// DivideIntoMicroBatches. It checks:
//  1. Node by node in order, except `accumulate`, both graphs have the same op
//     over the same values. A value is whole, or micro-batch m has its m-th
//     shard along one dimension, as the types show.
//  2. A node that reads or makes a shard is sharded along one factor with
//     independent shards, and has the attributes, bodies and types of every
//     shard. Every other node is unchanged, over whole values.
//  3. A node that sums over that factor makes a partial sum in each
//     micro-batch. Its only reader is one `accumulate` over all micro-batches.
//  4. Constants are equal, or are the shard that is equal in all micro-batches.
//  5. Updates are whole; outputs are whole or sharded along their first
//     dimension.
// Both graphs must use the same literals. Internal, "bug: ...", lists the first
// 20 differences.
absl::Status VerifyMicroBatches(const Graph& whole, const Graph& micro_batch,
                                int count);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VERIFY_MICRO_BATCHES_H_
