// Hash-consing of nodes in order.
// SPDX-License-Identifier: Apache-2.0

#include "passes/merge_duplicates.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// Constants are compared by content, everything else by id.
bool SameConstant(const OpView& a, const OpView& b) {
  const LiteralPool& literals = a.graph().literals();
  const LiteralId x = a.attr_literal("value");
  const LiteralId y = b.attr_literal("value");
  return x == y || (literals.type(x) == literals.type(y) &&
                    literals.hash(x) == literals.hash(y));
}

bool Same(const OpView& a, const OpView& b) {
  const Node& x = a.node();
  const Node& y = b.node();
  if (x.op != y.op || x.placement != y.placement) return false;
  if (a.is(kConstant)) return SameConstant(a, b);
  return x.operands == y.operands && x.attributes == y.attributes;
}

// Equal nodes have equal keys; unequal ones are told apart by Same.
size_t KeyOf(const OpView& op) {
  if (op.is(kConstant)) {
    const LiteralPool& literals = op.graph().literals();
    const LiteralId literal = op.attr_literal("value");
    // Reading large weights only to hash them would cost more than it saves,
    // so the key is the type alone and hashes are compared on a collision.
    return absl::HashOf(op.node().op, literals.type(literal).ToString());
  }
  return absl::HashOf(op.node().op, op.node().operands,
                      op.node().attributes.entries().size());
}

bool CanMerge(const OpView& op) {
  return !op.op().traits.random && op.node().regions.empty();
}

}  // namespace

absl::Status MergeDuplicates(Graph& graph) {
  absl::flat_hash_map<size_t, std::vector<NodeId>> seen;
  for (OpView op : graph.ops()) {
    if (!CanMerge(op)) continue;
    std::vector<NodeId>& candidates = seen[KeyOf(op)];
    bool merged = false;
    for (NodeId earlier : candidates) {
      if (!Same(graph.view(earlier), op)) continue;
      for (int i = 0; i < op.num_results(); ++i) {
        graph.ReplaceAllUses(op.result(i).id(), graph.node(earlier).results[i]);
      }
      graph.Erase(op.id());
      merged = true;
      break;
    }
    if (!merged) candidates.push_back(op.id());
  }
  return absl::OkStatus();
}

}  // namespace partita
