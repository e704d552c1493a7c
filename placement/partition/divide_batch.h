// The batch of a graph divided into parts, node by node: over replicas, or over
// micro-batches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_DIVIDE_BATCH_H_
#define PARTITA_PLACEMENT_PARTITION_DIVIDE_BATCH_H_

#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/batch.h"
#include "graph/graph.h"
#include "placement/partition/node_cutter.h"

namespace partita {

// Inputs that hold the batch are divided along it. In order, a node that reads
// a divided value is divided with it if its dimension rule allows; where that
// factor is summed over, each part has a partial sum, which it adds up over
// micro-batches by itself. Then, against the order, what only divided nodes
// read is divided like them. `parts` names the parts, as a placement names
// devices. Nodes that `is_whole` has by node id, and constants and variables,
// are not divided.
BatchDivision DivideBatch(const Graph& graph, const Batch& batch,
                          absl::InlinedVector<std::string, 1> parts,
                          const std::vector<bool>& is_whole);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_DIVIDE_BATCH_H_
