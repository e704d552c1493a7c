// The batch of a graph: which inputs hold it and which nodes sum over it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BATCH_H_
#define PARTITA_GRAPH_BATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

// The samples of a step: the first dimension of some inputs.
struct Batch {
  int64_t extent = 1;
  std::vector<bool> inputs;  // by input of the graph: true if it has samples
};

// The batch in these inputs, which have the same first extent.
Batch BatchOfInputs(const Graph& graph, std::vector<bool> inputs);

// The batch in the inputs of these names. If the graph has none of them: the
// first extent of the first input that has one, in all inputs for which it
// means the samples. It does not mean the samples in an input that a node
// combines with the first input along different dimensions (as a matmul does
// with weights and samples), or that is needed whole by a node, a variable, an
// update or an output.
Batch FindBatch(const Graph& graph,
                absl::Span<const std::string> input_names = {});

// "x f32[8, 8] and t f32[8, 3]": the inputs of a batch, for messages.
std::string BatchText(const Graph& graph, const Batch& batch);

// By node id: true if the node sums over the batch, as the gradient of a weight
// does. Such a node can be sharded along the batch only if no other computation
// follows the sum inside it. Follows the batch from its inputs by the ops'
// dimension rules.
std::vector<bool> SumsOverBatch(const Graph& graph, const Batch& batch);

}  // namespace partita

#endif  // PARTITA_GRAPH_BATCH_H_
