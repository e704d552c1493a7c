// Finds batches by name, and the nodes that sum over them.
// SPDX-License-Identifier: Apache-2.0

#include "graph/batch.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/batch_inputs.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// The outermost factor of the batch dimension of the first operand that has
// one; -1 if none. `batch_dims` is the batch dimension by value, or -1.
int BatchFactor(const OpView& op, const DimensionRule& rule,
                const std::vector<int>& batch_dims) {
  for (int i = 0; i < op.num_operands(); ++i) {
    const int dim = batch_dims[op.operand(i).id().index];
    if (dim < 0 || rule.operands[i][dim].empty()) continue;
    return rule.operands[i][dim].front();
  }
  return -1;
}

std::vector<bool> Named(const Graph& graph,
                        absl::Span<const std::string> names) {
  std::vector<bool> inputs;
  for (ValueId input : graph.inputs()) {
    inputs.push_back(graph.type(input).rank() > 0 &&
                     absl::c_linear_search(names, graph.value(input).name));
  }
  return inputs;
}

}  // namespace

Batch BatchOfInputs(const Graph& graph, std::vector<bool> inputs) {
  Batch batch{.inputs = std::move(inputs)};
  const auto first = absl::c_find(batch.inputs, true);
  if (first == batch.inputs.end()) return batch;
  const ValueId input = graph.inputs()[first - batch.inputs.begin()];
  batch.extent = graph.type(input).dims[0];
  return batch;
}

Batch FindBatch(const Graph& graph, absl::Span<const std::string> input_names) {
  std::vector<bool> inputs = Named(graph, input_names);
  if (!absl::c_linear_search(inputs, true)) inputs = FindBatchInputs(graph);
  return BatchOfInputs(graph, std::move(inputs));
}

std::string BatchText(const Graph& graph, const Batch& batch) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (!batch.inputs[i]) continue;
    const Value& input = graph.value(graph.inputs()[i]);
    texts.push_back(absl::StrCat(input.name, " ", input.type.ToString()));
  }
  if (texts.size() < 2) return absl::StrJoin(texts, "");
  const std::string last = std::move(texts.back());
  texts.pop_back();
  return absl::StrCat(absl::StrJoin(texts, ", "), " and ", last);
}

std::vector<bool> SumsOverBatch(const Graph& graph, const Batch& batch) {
  std::vector<bool> sums(graph.node_id_bound(), false);
  std::vector<int> batch_dims(graph.value_id_bound(), -1);
  for (size_t i = 0; i < batch.inputs.size(); ++i) {
    if (batch.inputs[i]) batch_dims[graph.inputs()[i].index] = 0;
  }
  for (const OpView& op : graph.ops()) {
    if (op.op().dimension_rule == nullptr) continue;
    const DimensionRule rule = op.op().dimension_rule(op);
    const int factor = BatchFactor(op, rule, batch_dims);
    if (factor < 0) continue;
    sums[op.id().index] = rule.factors[factor].kind == Factor::Kind::kReduced;
    for (int i = 0; i < op.num_results(); ++i) {
      batch_dims[op.result(i).id().index] =
          DimensionOf(rule.results[i], factor);
    }
  }
  return sums;
}

}  // namespace partita
