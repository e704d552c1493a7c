// Matches by name, then by a fingerprint of what each node computes from what.
// SPDX-License-Identifier: Apache-2.0

#include "partita/node_matches.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/core_ops.h"
#include "graph/literal_pool.h"
#include "graph/node_key.h"

namespace partita {
namespace {

std::string TypeText(const TensorType& type) {
  const TensorType row_major = {type.dtype, type.dims, {}};
  return row_major.ToString();
}

ContentHash HashText(absl::string_view text) {
  return HashBytes(
      {reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

std::vector<NodeId> ModelNodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (const OpView& op : graph.ops()) {
    if (IsModelNode(op)) nodes.push_back(op.id());
  }
  return nodes;
}

// By the name of the first result; invalid: several nodes have it.
using NodesByName = absl::flat_hash_map<std::string, NodeId>;
NodesByName ByName(const Graph& graph, const std::vector<NodeId>& nodes) {
  NodesByName by_name;
  for (NodeId node : nodes) {
    const std::string& name = graph.value(graph.node(node).results[0]).name;
    if (name.empty()) continue;
    const auto [place, is_new] = by_name.emplace(name, node);
    if (!is_new) place->second = NodeId();
  }
  return by_name;
}

// By node id of one graph: the number of its pair, or -1.
using PairNumbers = std::vector<int>;

// Fingerprints of one graph's nodes (step 2).
class NodePrints {
 public:
  NodePrints(const Graph& graph, const PairNumbers& pairs)
      : graph_(graph),
        pairs_(pairs),
        nodes_(graph.node_id_bound()),
        values_(graph.value_id_bound()) {
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      values_[graph.inputs()[i].index] = HashText(absl::StrCat("input ", i));
    }
    for (const OpView& op : graph.ops()) Add(op);
  }

  const ContentHash& of(NodeId node) const { return nodes_[node.index]; }

 private:
  void Add(const OpView& op) {
    if (op.is(kCopy) || op.is(kReorder) || op.is(kBucket)) {
      for (int i = 0; i < op.num_results(); ++i) {
        values_[op.result(i).id().index] = values_[op.operand(i).id().index];
      }
      return;
    }
    const ContentHash print = HashText(TextOf(op));
    nodes_[op.id().index] = print;
    for (int i = 0; i < op.num_results(); ++i) {
      values_[op.result(i).id().index] =
          HashText(absl::StrCat(print.ToString(), " ", i));
    }
  }

  std::string TextOf(const OpView& op) const {
    if (op.is(kConstant)) {
      return absl::StrCat("constant ", TypeText(op.result_type(0)));
    }
    if (op.is(kVariable)) {
      return absl::StrCat("variable ", op.attr_string("name"));
    }
    const int pair = pairs_[op.id().index];
    if (pair >= 0) return absl::StrCat("pair ", pair);
    std::string text = NodeKey(op);
    for (int i = 0; i < op.num_operands(); ++i) {
      absl::StrAppend(&text, " ", values_[op.operand(i).id().index].ToString());
    }
    return text;
  }

  const Graph& graph_;
  const PairNumbers& pairs_;
  std::vector<ContentHash> nodes_;   // by node id
  std::vector<ContentHash> values_;  // by value id
};

class Matcher {
 public:
  Matcher(const Graph& a, const Graph& b)
      : a_(a),
        b_(b),
        nodes_a_(ModelNodes(a)),
        nodes_b_(ModelNodes(b)),
        partner_(a.node_id_bound()),
        pairs_a_(a.node_id_bound(), -1),
        pairs_b_(b.node_id_bound(), -1) {}

  NodeMatches Run() {
    PairNames();
    PairPrints();
    NodeMatches matches;
    for (NodeId node : nodes_a_) {
      if (partner_[node.index].valid()) {
        matches.pairs.push_back({node, partner_[node.index]});
      } else {
        matches.only_a.push_back(node);
      }
    }
    for (NodeId node : nodes_b_) {
      if (pairs_b_[node.index] < 0) matches.only_b.push_back(node);
    }
    return matches;
  }

 private:
  void Pair(NodeId a, NodeId b) {
    partner_[a.index] = b;
    pairs_a_[a.index] = pairs_b_[b.index] = num_pairs_++;
  }

  bool SameFirstResult(NodeId a, NodeId b) const {
    return TypeText(a_.type(a_.node(a).results[0])) ==
           TypeText(b_.type(b_.node(b).results[0]));
  }

  void PairNames() {
    const NodesByName named_a = ByName(a_, nodes_a_);
    const NodesByName named_b = ByName(b_, nodes_b_);
    for (NodeId node : nodes_a_) {
      const auto a = named_a.find(a_.value(a_.node(node).results[0]).name);
      if (a == named_a.end() || !a->second.valid()) continue;
      const auto b = named_b.find(a->first);
      if (b == named_b.end() || !b->second.valid()) continue;
      if (SameFirstResult(node, b->second)) Pair(node, b->second);
    }
  }

  void PairPrints() {
    // Of step 1 alone, the same numbers on both sides.
    const NodePrints prints_a(a_, pairs_a_);
    const NodePrints prints_b(b_, pairs_b_);
    // Unpaired nodes of b in order, and how many of them have got a partner.
    struct Equals {
      std::vector<NodeId> nodes;
      size_t taken = 0;
    };
    absl::flat_hash_map<ContentHash, Equals> equals;
    for (NodeId node : nodes_b_) {
      if (pairs_b_[node.index] >= 0) continue;
      equals[prints_b.of(node)].nodes.push_back(node);
    }
    for (NodeId node : nodes_a_) {
      if (pairs_a_[node.index] >= 0) continue;
      const auto same = equals.find(prints_a.of(node));
      if (same == equals.end()) continue;
      Equals& found = same->second;
      if (found.taken == found.nodes.size()) continue;
      Pair(node, found.nodes[found.taken++]);
    }
  }

  const Graph& a_;
  const Graph& b_;
  const std::vector<NodeId> nodes_a_;
  const std::vector<NodeId> nodes_b_;
  std::vector<NodeId> partner_;  // by node id of a
  PairNumbers pairs_a_;
  PairNumbers pairs_b_;
  int num_pairs_ = 0;
};

}  // namespace

bool IsModelNode(const OpView& node) {
  return node.num_results() > 0 && !node.is(kCopy) && !node.is(kReorder) &&
         !node.is(kBucket) && !node.is(kConstant);
}

NodeMatches MatchNodes(const Graph& a, const Graph& b) {
  return Matcher(a, b).Run();
}

}  // namespace partita
