// Moving nodes between a graph and the body of a fused node.
// SPDX-License-Identifier: Apache-2.0

#include "passes/make_fused.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

// Builds the body and records which outer value each of its inputs stands for.
class BodyBuilder {
 public:
  BodyBuilder(const Graph& graph, std::string name)
      : graph_(graph),
        body_(std::make_unique<Graph>(std::move(name), &graph.literals())) {}

  absl::Status Add(NodeId id) {
    const Node& node = graph_.node(id);
    ValueIds operands;
    for (ValueId operand : node.operands) operands.push_back(Inner(operand));
    NodeSpec spec = CopyOf(node, std::move(operands), &graph_.literals());
    spec.placement = {};
    for (ValueId result : node.results) {
      spec.result_names.push_back(graph_.value(result).name);
    }
    PARTITA_ASSIGN_OR_RETURN(const NodeId twin,
                             body_->AddNode(std::move(spec)));
    for (size_t i = 0; i < node.results.size(); ++i) {
      inner_[node.results[i]] = body_->node(twin).results[i];
    }
    return absl::OkStatus();
  }

  std::unique_ptr<Graph> Finish(const ValueIds& results) {
    std::vector<ValueId> outputs;
    for (ValueId result : results) outputs.push_back(inner_.at(result));
    body_->SetOutputs(std::move(outputs));
    return std::move(body_);
  }

  const ValueIds& operands() const { return operands_; }

 private:
  ValueId Inner(ValueId outer) {
    auto it = inner_.find(outer);
    if (it != inner_.end()) return it->second;
    operands_.push_back(outer);
    const ValueId input = body_->AddInput(graph_.value(outer).name,
                                          graph_.type(outer).RowMajor());
    inner_[outer] = input;
    return input;
  }

  const Graph& graph_;
  std::unique_ptr<Graph> body_;
  ValueMap inner_;     // outer value -> the body's
  ValueIds operands_;  // of the fused node, by body input
};

// The last member's, and those that the graph hands on besides.
ValueIds ResultsOf(const Graph& graph, const std::vector<NodeId>& members) {
  ValueIds results = {graph.node(members.back()).results[0]};
  for (NodeId member : members) {
    const ValueId result = graph.node(member).results[0];
    if (member != members.back() && graph.is_output(result)) {
      results.push_back(result);
    }
  }
  return results;
}

}  // namespace

absl::StatusOr<NodeId> MakeFused(Graph& graph,
                                 const std::vector<NodeId>& members,
                                 NodeId principal) {
  const NodeId last = members.back();
  const ValueIds results = ResultsOf(graph, members);
  BodyBuilder builder(graph, "body");
  JointPlacement joint;
  for (NodeId member : members) {
    PARTITA_RETURN_IF_ERROR(builder.Add(member));
    joint.Admit(graph.node(member));
  }
  NodeSpec spec{.op = &kFused,
                .operands = builder.operands(),
                .attributes = {},
                .regions = {},
                .result_names = {},
                .scope = graph.node(principal).scope,
                .location = graph.node(principal).location,
                .placement = joint.get()};
  for (ValueId result : results) {
    spec.result_names.push_back(graph.value(result).name);
  }
  // Where a pin divides results, it divides those of all members alike.
  std::vector<Sharding>& shardings = spec.placement.results;
  if (!shardings.empty()) shardings.resize(results.size(), shardings[0]);
  spec.regions.push_back(builder.Finish(results));
  PARTITA_ASSIGN_OR_RETURN(const NodeId fused,
                           graph.AddNode(std::move(spec), last));
  for (size_t i = 0; i < results.size(); ++i) {
    graph.ReplaceAllUses(results[i], graph.node(fused).results[i]);
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    graph.Erase(*member);
  }
  return fused;
}

absl::Status InlineFused(Graph& graph, NodeId fused) {
  const std::unique_ptr<Graph> body =
      std::move(graph.node(fused).regions.front());
  graph.node(fused).regions.clear();
  ValueMap outer;
  for (size_t i = 0; i < body->inputs().size(); ++i) {
    outer[body->inputs()[i]] = graph.node(fused).operands[i];
  }
  const int first = graph.node_id_bound();
  for (NodeId id : body->order()) {
    const Node& node = body->node(id);
    ValueIds operands;
    for (ValueId operand : node.operands) operands.push_back(outer.at(operand));
    NodeSpec spec = CopyOf(node, std::move(operands), &graph.literals());
    spec.scope = graph.node(fused).scope;
    spec.location = graph.node(fused).location;
    spec.placement = graph.node(fused).placement;
    PARTITA_ASSIGN_OR_RETURN(const NodeId twin,
                             graph.AddNode(std::move(spec), fused));
    for (size_t i = 0; i < node.results.size(); ++i) {
      outer[node.results[i]] = graph.node(twin).results[i];
    }
  }
  for (size_t i = 0; i < body->outputs().size(); ++i) {
    const ValueId old = graph.node(fused).results[i];
    const ValueId inner = outer.at(body->outputs()[i]);
    // A body may hand on its own input, whose name is the caller's.
    if (graph.value(inner).defining_node.index >= first) {
      graph.value(inner).name = graph.value(old).name;
    }
    graph.ReplaceAllUses(old, inner);
  }
  graph.Erase(fused);
  return absl::OkStatus();
}

}  // namespace partita
