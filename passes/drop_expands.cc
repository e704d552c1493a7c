// One operand at a time, as the last full-sized one must stay.
// SPDX-License-Identifier: Apache-2.0

#include "passes/drop_expands.h"

#include <optional>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

// True if another operand than `index` has the result's extents.
bool OthersGiveExtents(const OpView& op, int index) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (i != index && op.operand_type(i).dims == op.result_type(0).dims) {
      return true;
    }
  }
  return false;
}

void ReadThrough(Graph& graph, const OpView& op, int index) {
  const std::optional<OpView> expand = op.operand(index).defining_op();
  if (!expand.has_value() || !expand->is(kExpand)) return;
  if (!OthersGiveExtents(op, index)) return;
  JointPlacement joint;
  if (!joint.Admit(expand->node()) || !joint.Admit(op.node()) ||
      joint.is_sharded()) {
    return;
  }
  graph.node(op.id()).placement = joint.get();
  graph.SetOperand(op.id(), index, expand->operand(0).id());
}

}  // namespace

absl::Status DropExpands(Graph& graph) {
  for (OpView op : graph.ops()) {
    if (!op.op().traits.elementwise) continue;
    for (int i = 0; i < op.num_operands(); ++i) ReadThrough(graph, op, i);
  }
  return absl::OkStatus();
}

}  // namespace partita
