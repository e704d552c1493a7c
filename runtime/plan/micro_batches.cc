// Propagates variation from the ports through the graph.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/micro_batches.h"

#include <algorithm>

#include "graph/shard.h"

namespace partita {

int CountMicroBatches(const Entry& entry) {
  int count = 1;
  for (const Invocation& invocation : entry.schedule) {
    const Program& program = entry.programs[invocation.program.index];
    for (const Command& command : program.commands) {
      count = std::max(count, 1 + invocation.micro_batch.index +
                                  command.instance.micro_batch.index);
    }
  }
  return count;
}

std::vector<bool> VaryingValues(const Entry& entry) {
  const Graph& graph = *entry.graph;
  std::vector<bool> inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    inputs.push_back(entry.inputs[i].type.num_bytes() !=
                     graph.type(graph.inputs()[i]).num_bytes());
  }
  return VaryingValues(graph, inputs);
}

}  // namespace partita
