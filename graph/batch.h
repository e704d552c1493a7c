// The batch of a graph: which inputs have it, and which nodes sum over it.
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
  std::vector<bool> inputs;  // by input of the graph: it holds the samples
};

// The batch of these inputs, which have the same first extent.
Batch BatchOfInputs(const Graph& graph, std::vector<bool> inputs);

// The batch of the inputs of these names. Where the graph has none of them: the
// first extent of the first input that has one, and the inputs that share it by
// meaning. Another input with the same first extent does not, if it and the
// first meet in a node along different dimensions (as weights meet samples in a
// matmul), or if the node, a variable that it meets, an update or an output
// needs it whole.
Batch FindBatch(const Graph& graph,
                absl::Span<const std::string> input_names = {});

// "x f32[8, 8] and t f32[8, 3]": the inputs of a batch, for messages.
std::string BatchText(const Graph& graph, const Batch& batch);

// By node id: the node sums over the batch, as the gradient of a weight does.
// Such a node can be computed in parts, one for each part of the batch, only as
// long as it does nothing else behind the sum. Follows the batch from its
// inputs by the ops' dimension rules.
std::vector<bool> SumsOverBatch(const Graph& graph, const Batch& batch);

}  // namespace partita

#endif  // PARTITA_GRAPH_BATCH_H_
