// Finds the updates from both sides: they read variables, and everything
// computed from them becomes variables.
// SPDX-License-Identifier: Apache-2.0

#include "partita/repeated_share.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "graph/check_sharding.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/shard.h"

namespace partita {
namespace {

// By value: true if it, or everything computed from it, becomes a variable.
std::vector<bool> EndInVariables(const Graph& graph) {
  std::vector<bool> is_update(graph.value_id_bound(), false);
  std::vector<bool> is_output(graph.value_id_bound(), false);
  for (const VariableUpdate& update : graph.updates()) {
    is_update[update.value.index] = true;
  }
  for (ValueId output : graph.outputs()) is_output[output.index] = true;
  std::vector<bool> ends(graph.value_id_bound(), false);
  const auto all_end = [&](NodeId node) {
    return absl::c_all_of(graph.node(node).results,
                          [&](ValueId result) { return ends[result.index]; });
  };
  const std::vector<NodeId> order = graph.order();
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    for (ValueId result : graph.node(*node).results) {
      const auto& uses = graph.value(result).uses;
      ends[result.index] = !is_output[result.index] &&
                           (is_update[result.index] || !uses.empty()) &&
                           absl::c_all_of(uses, [&](const Use& use) {
                             return all_end(use.node);
                           });
    }
  }
  return ends;
}

// A gradient by a layer's operand reads a variable too, and ends in those of
// earlier layers; but updates are elementwise.
bool IsElementwise(const OpView& op) {
  if (!op.is(kFused)) return op.op().traits.elementwise;
  return absl::c_all_of(op.region(0).ops(), [](const OpView& inner) {
    return inner.is(kConstant) || inner.op().traits.elementwise;
  });
}

// By node: true if it is part of an update: it has the extents of the variable,
// or of an update's value, that it reads.
std::vector<bool> FindUpdates(const Graph& graph) {
  const std::vector<bool> ends = EndInVariables(graph);
  std::vector<bool> is_update(graph.node_id_bound(), false);
  for (const OpView& op : graph.ops()) {
    const auto is_of_variable = [&](ValueId operand) {
      const NodeId maker = graph.value(operand).defining_node;
      return maker.valid() &&
             graph.type(operand).dims == op.result_type(0).dims &&
             (graph.view(maker).is(kVariable) || is_update[maker.index]);
    };
    is_update[op.id().index] =
        IsElementwise(op) &&
        absl::c_any_of(op.node().operands, is_of_variable) &&
        absl::c_all_of(op.node().results,
                       [&](ValueId result) { return ends[result.index]; });
  }
  return is_update;
}

// Each device has partial sums of its own.
bool IsRepeated(const OpView& op) {
  const Placement& placement = op.node().placement;
  return placement.devices.size() > 1 && !IsSharded(op) &&
         !PassesSummands(op, placement);
}

}  // namespace

double RepeatedShare(const Graph& graph, absl::Span<const PricedNode> chosen,
                     absl::Span<const int> runs) {
  const std::vector<bool> is_update = FindUpdates(graph);
  double seconds = 0;
  double repeated = 0;
  for (const PricedNode& kernel : chosen) {
    const double taken = kernel.seconds * runs[kernel.node.index];
    seconds += taken;
    if (IsRepeated(graph.view(kernel.node)) && !is_update[kernel.node.index]) {
      repeated += taken;
    }
  }
  return seconds > 0 ? repeated / seconds : 0;
}

}  // namespace partita
