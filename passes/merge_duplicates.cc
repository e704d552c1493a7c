// Hash-consing of nodes, in order.
// SPDX-License-Identifier: Apache-2.0

#include "passes/merge_duplicates.h"

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"

namespace partita {
namespace {

// Compares constants by content, everything else by id.
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

template <typename T>
size_t HashOfHeld(const T& value) {
  if constexpr (std::is_same_v<T, Number>) {
    return absl::HashOf(value.held());
  } else {
    return absl::HashOf(value);
  }
}

size_t HashOfAttributes(const Attributes& attributes) {
  size_t hash = 0;
  for (const auto& [name, value] : attributes.entries()) {
    const size_t of_value =
        std::visit([](const auto& v) { return HashOfHeld(v); }, value);
    hash = absl::HashOf(hash, name, of_value);
  }
  return hash;
}

// Finds the earlier node that each node equals.
class Seen {
 public:
  explicit Seen(const Graph& graph) : graph_(graph) {}

  // The first node like `op`, which may be `op`.
  NodeId FirstLike(const OpView& op) {
    if (!op.is(kConstant)) return FirstWithKey(KeyOf(op), op);
    const LiteralPool& literals = graph_.literals();
    const std::string type = literals.type(op.attr_literal("value")).ToString();
    // Reading a large weight only to hash it costs more than it saves, so the
    // first constant of a type is hashed only when there is a second one.
    const auto [first, is_new] = first_of_type_.emplace(type, op.id());
    if (is_new) return op.id();
    if (first->second.valid()) {
      FirstWithKey(KeyOf(graph_.view(first->second)),
                   graph_.view(first->second));
      first->second = NodeId();
    }
    return FirstWithKey(KeyOf(op), op);
  }

  int64_t comparisons() const { return comparisons_; }

 private:
  // Equal nodes have equal keys; Same distinguishes others.
  size_t KeyOf(const OpView& op) const {
    const Node& node = op.node();
    if (op.is(kConstant)) {
      const LiteralId literal = op.attr_literal("value");
      return absl::HashOf(node.op, graph_.literals().hash(literal),
                          graph_.literals().type(literal).ToString(),
                          node.placement.devices);
    }
    return absl::HashOf(node.op, node.operands,
                        HashOfAttributes(node.attributes),
                        node.placement.devices);
  }

  NodeId FirstWithKey(size_t key, const OpView& op) {
    std::vector<NodeId>& candidates = by_key_[key];
    for (NodeId earlier : candidates) {
      ++comparisons_;
      if (Same(graph_.view(earlier), op)) return earlier;
    }
    candidates.push_back(op.id());
    return op.id();
  }

  const Graph& graph_;
  absl::flat_hash_map<size_t, std::vector<NodeId>> by_key_;
  // Invalid when the constant is in by_key_.
  absl::flat_hash_map<std::string, NodeId> first_of_type_;
  int64_t comparisons_ = 0;
};

bool CanMerge(const OpView& op) {
  return !op.op().traits.random && op.node().regions.empty();
}

}  // namespace

absl::Status MergeDuplicates(Graph& graph, int64_t& comparisons) {
  Seen seen(graph);
  for (OpView op : graph.ops()) {
    if (!CanMerge(op)) continue;
    const NodeId first = seen.FirstLike(op);
    if (first == op.id()) continue;
    for (int i = 0; i < op.num_results(); ++i) {
      graph.ReplaceAllUses(op.result(i).id(), graph.node(first).results[i]);
    }
    graph.Erase(op.id());
  }
  comparisons = seen.comparisons();
  return absl::OkStatus();
}

absl::Status MergeDuplicates(Graph& graph) {
  int64_t comparisons = 0;
  return MergeDuplicates(graph, comparisons);
}

}  // namespace partita
