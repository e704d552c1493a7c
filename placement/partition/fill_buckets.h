// Puts gradients into buckets, with one collective for each bucket.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_
#define PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Puts all-reduces into buckets, one collective for each bucket, as PyTorch's
// DistributedDataParallel does (Li et al. 2020). An all-reduce is a copy of
// partial values:
//
//   %a.all = copy %a (partial sum) -> (replicated)
//   %b = matmul ...                            %b = matmul ...
//   %b.all = copy %b (partial sum) -> ...      %a.all, %b.all = bucket %a, %b
//
// A bucket takes sums in the graph's order, which is the order in which a
// backward pass makes gradients, until it has `bytes` of them. Readers of a sum
// are moved after its bucket.
// * Sums that a later collective depends on, such as those of a batch norm, go
//   into separate buckets. Such a bucket holds small sums that do not depend on
//   each other and that are ready after the same number of passes of the
//   micro-batches.
// * Outputs of the graph and values of its updates are not bucketed. Neither
//   are values with `varying` (by value id): each micro-batch has its own
//   collective for them.
// * Small all-gathers that only updates wait for, such as those of running
//   statistics, have buckets too.
// Buckets keep every bit: each value is summed in the order of the ranks.
// Needs: a graph from Partition. InvalidArgument if the op `bucket` refuses its
// operands.
absl::Status FillBuckets(Graph& graph, int64_t bytes,
                         const std::vector<bool>& varying);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_
