// Which inputs of a graph hold the samples, where nobody says.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BATCH_INPUTS_H_
#define PARTITA_GRAPH_BATCH_INPUTS_H_

#include <vector>

#include "graph/graph.h"

namespace partita {

// By input: those that FindBatch takes where no name is given. Follows the
// inputs that have the first extent of the first one through the nodes by their
// dimension rules, once more for each time that it finds inputs to leave out.
std::vector<bool> FindBatchInputs(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_GRAPH_BATCH_INPUTS_H_
