// Follows the batch through the nodes.
// SPDX-License-Identifier: Apache-2.0

#include "graph/batch.h"

#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// The outermost factor of the first operand's dimension that is the batch, or
// -1. `lies` is that dimension by value, or -1.
int BatchFactor(const OpView& op, const DimensionRule& rule,
                const std::vector<int>& lies) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const int dim = lies[op.operand(i).id().index];
    if (dim < 0 || rule.operands[i][dim].empty()) continue;
    return rule.operands[i][dim].front();
  }
  return -1;
}

}  // namespace

int64_t BatchOf(const Graph& graph) {
  for (ValueId input : graph.inputs()) {
    if (graph.type(input).rank() > 0) return graph.type(input).dims[0];
  }
  return 1;
}

bool IsBatched(const Graph& graph, ValueId input) {
  const TensorType& type = graph.type(input);
  return type.rank() > 0 && type.dims[0] == BatchOf(graph);
}

std::vector<bool> SumsOverBatch(const Graph& graph) {
  std::vector<bool> sums(graph.node_id_bound(), false);
  std::vector<int> lies(graph.value_id_bound(), -1);
  for (ValueId input : graph.inputs()) {
    if (IsBatched(graph, input)) lies[input.index] = 0;
  }
  for (const OpView& op : graph.ops()) {
    if (op.op().dimension_rule == nullptr) continue;
    const DimensionRule rule = op.op().dimension_rule(op);
    const int factor = BatchFactor(op, rule, lies);
    if (factor < 0) continue;
    sums[op.id().index] = rule.factors[factor].kind == Factor::Kind::kReduced;
    for (int i = 0; i < op.num_results(); ++i) {
      lies[op.result(i).id().index] = DimensionOf(rule.results[i], factor);
    }
  }
  return sums;
}

}  // namespace partita
