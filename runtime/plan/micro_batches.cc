// Follows micro-batches from the ports through the graph.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/micro_batches.h"

#include <algorithm>

#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_view.h"

namespace partita {

int CountMicroBatches(const Entry& entry) {
  int count = 1;
  for (const Invocation& invocation : entry.schedule) {
    for (const Command& command : entry.programs[invocation.program].commands) {
      count = std::max(
          count, 1 + invocation.micro_batch + command.instance.micro_batch);
    }
  }
  return count;
}

std::vector<bool> VaryingValues(const Entry& entry) {
  const Graph& graph = *entry.graph;
  std::vector<bool> varies(graph.value_id_bound(), false);
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId input = graph.inputs()[i];
    varies[input.index] =
        entry.inputs[i].type.num_bytes() != graph.type(input).num_bytes();
  }
  for (const OpView& op : graph.ops()) {
    bool differs = ChangesWithMicroBatch(op);
    for (ValueId operand : op.node().operands) {
      differs |= varies[operand.index];
    }
    if (op.is(kAccumulate)) differs = false;
    for (ValueId result : op.node().results) varies[result.index] = differs;
  }
  return varies;
}

}  // namespace partita
