// The batch of a graph: which inputs have it, and which nodes sum over it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BATCH_H_
#define PARTITA_GRAPH_BATCH_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace partita {

// The leading extent of the first input that has one; 1 if none has.
int64_t BatchOf(const Graph& graph);
// True for inputs whose leading extent is the batch.
bool IsBatched(const Graph& graph, ValueId input);

// By node id: the node sums over the batch, as the gradient of a weight does.
// Such a node can be computed in parts, one for each part of the batch, only as
// long as it does nothing else behind the sum. Follows the batch from the
// inputs by the ops' dimension rules.
std::vector<bool> SumsOverBatch(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_GRAPH_BATCH_H_
