// Composes permutations.
// SPDX-License-Identifier: Apache-2.0

#include "passes/cancel_transpose_pair.h"

#include <optional>
#include <vector>

#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

// The permutation of `first` followed by `second`.
std::vector<int64_t> Composed(const std::vector<int64_t>& first,
                              const std::vector<int64_t>& second) {
  std::vector<int64_t> both;
  for (int64_t axis : second) both.push_back(first[axis]);
  return both;
}

}  // namespace

absl::Status CancelTransposePair(Graph& graph) {
  for (OpView outer : graph.ops(kTranspose)) {
    const std::optional<OpView> inner = outer.operand(0).defining_op();
    if (!inner.has_value() || !inner->is(kTranspose)) continue;
    JointPlacement joint;
    if (!joint.Admit(inner->node()) || !joint.Admit(outer.node()) ||
        joint.is_sharded()) {
      continue;
    }
    graph.node(outer.id()).placement = joint.get();
    graph.node(outer.id())
        .attributes.Set("perm", Composed(inner->attr_ints("perm"),
                                         outer.attr_ints("perm")));
    graph.SetOperand(outer.id(), 0, inner->operand(0).id());
  }
  return absl::OkStatus();
}

}  // namespace partita
