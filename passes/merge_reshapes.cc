// Makes reshapes of reshapes read the first operand.
// SPDX-License-Identifier: Apache-2.0

#include "passes/merge_reshapes.h"

#include <optional>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "passes/joint_placement.h"

namespace partita {

absl::Status MergeReshapes(Graph& graph) {
  for (OpView outer : graph.ops(kReshape)) {
    const std::optional<OpView> inner = outer.operand(0).defining_op();
    if (!inner.has_value() || !inner->is(kReshape)) continue;
    JointPlacement joint;
    if (!joint.Admit(inner->node()) || !joint.Admit(outer.node()) ||
        joint.is_sharded()) {
      continue;
    }
    graph.node(outer.id()).placement = joint.get();
    graph.SetOperand(outer.id(), 0, inner->operand(0).id());
  }
  return absl::OkStatus();
}

}  // namespace partita
