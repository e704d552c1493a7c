// Finds the inputs of a graph that hold the samples, by default.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BATCH_INPUTS_H_
#define PARTITA_GRAPH_BATCH_INPUTS_H_

#include <vector>

#include "graph/graph.h"

namespace partita {

// By input: the inputs that FindBatch uses without names. Follows the inputs
// with the first extent of the first input through the nodes, by dimension
// rules. Repeats this as long as it finds inputs to exclude.
std::vector<bool> FindBatchInputs(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_GRAPH_BATCH_INPUTS_H_
