// What is exchanged together: gradients in buckets.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_
#define PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace partita {

// Puts copies that join partial values into buckets, one exchange for each, as
// PyTorch's DistributedDataParallel does (Li et al. 2020):
//
//   %a.all = copy %a (partial sum) -> (replicated)
//   %b = matmul ...                            %b = matmul ...
//   %b.all = copy %b (partial sum) -> ...      %a.all, %b.all = bucket %a, %b
//
// In the order of the graph, in which a backward pass makes gradients, a bucket
// takes one after the other until it has `bytes` of them. Sums that another
// exchange waits for, as those of a batch norm, have buckets of their own: of
// small ones that need nothing of each other, up to the first that does, and
// that micro-batches go through the graph as often for. What
// reads a sum stands behind its bucket. Outputs of the graph and values of its
// updates stay alone, and so does what `varying` has by value id: it is
// exchanged anew in each micro-batch. Parts that are gathered, as replicas'
// running statistics, have buckets too where they are small and only updates
// wait for them. A bucket changes no bit: each value is summed in the order of
// the members. Needs: a graph that partition has connected. InvalidArgument if
// the op refuses.
absl::Status FillBuckets(Graph& graph, int64_t bytes,
                         const std::vector<bool>& varying);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_FILL_BUCKETS_H_
