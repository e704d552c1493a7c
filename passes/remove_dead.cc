// Removes unread nodes in reverse order, except variables with updates.
// SPDX-License-Identifier: Apache-2.0

#include "passes/remove_dead.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// An update names its variable.
bool IsUpdated(const Graph& graph, NodeId node) {
  const OpView op = graph.view(node);
  return op.is(kVariable) &&
         absl::c_any_of(graph.updates(), [&](const VariableUpdate& update) {
           return update.variable == op.attr_string("name");
         });
}

bool IsRead(const Graph& graph, const std::vector<bool>& is_output,
            NodeId node) {
  for (ValueId result : graph.node(node).results) {
    if (!graph.value(result).uses.empty() || is_output[result.index]) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status RemoveDead(Graph& graph) {
  std::vector<bool> is_output(graph.value_id_bound(), false);
  for (ValueId output : graph.outputs()) is_output[output.index] = true;
  for (const VariableUpdate& update : graph.updates()) {
    is_output[update.value.index] = true;
  }
  const std::vector<NodeId> order = graph.order();
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (IsRead(graph, is_output, *node) || IsUpdated(graph, *node)) continue;
    graph.Erase(*node);
  }
  return absl::OkStatus();
}

}  // namespace partita
