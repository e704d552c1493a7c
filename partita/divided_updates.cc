// Looks behind the copy that gathers a variable's parts.
// SPDX-License-Identifier: Apache-2.0

#include "partita/divided_updates.h"

#include <cstddef>
#include <vector>

#include "graph/core_ops.h"
#include "graph/op_view.h"

namespace partita {
namespace {

Sharding::Kind KindOf(const std::vector<Sharding>& values, size_t index) {
  return values.empty() ? Sharding::Kind::kReplicated : values[index].kind;
}

// True if the value is split, or gathered from a split one.
bool IsMadeSplit(const Graph& graph, ValueId value) {
  const NodeId maker = graph.value(value).defining_node;
  if (!maker.valid()) return false;
  const OpView op = graph.view(maker);
  const Placement& placement = op.node().placement;
  if (op.is(kCopy)) {
    return KindOf(placement.operands, 0) == Sharding::Kind::kSplit;
  }
  for (int i = 0; i < op.num_results(); ++i) {
    if (op.result(i).id() != value) continue;
    return KindOf(placement.results, i) == Sharding::Kind::kSplit;
  }
  return false;
}

}  // namespace

DividedUpdates CountDividedUpdates(const Graph& graph) {
  DividedUpdates updates;
  for (const VariableUpdate& update : graph.updates()) {
    ++updates.all;
    if (IsMadeSplit(graph, update.value)) ++updates.divided;
  }
  return updates;
}

}  // namespace partita
