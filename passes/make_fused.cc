// Moves nodes between a graph and the body of a fused node.
// SPDX-License-Identifier: Apache-2.0

#include "passes/make_fused.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

// How members read an outer value. Elementwise members read it alike, as they
// have the same extents. Each operand of another member is separate: a product
// may need all columns of a value while the sum after it, split by columns,
// needs some.
struct Reading {
  ValueId value;
  NodeId member;  // invalid: any elementwise one
  int operand = -1;

  friend bool operator==(const Reading&, const Reading&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Reading& reading) {
    return H::combine(std::move(h), reading.value, reading.member,
                      reading.operand);
  }
};

// Builds the body, with one input for each way of reading an outer value, and
// records those values.
class BodyBuilder {
 public:
  BodyBuilder(const Graph& graph, std::string name)
      : graph_(graph),
        body_(std::make_unique<Graph>(std::move(name), &graph.literals())) {}

  absl::Status Add(NodeId id) {
    const Node& node = graph_.node(id);
    ValueIds operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      Reading reading{.value = node.operands[i]};
      if (!node.op->traits.elementwise) {
        reading.member = id;
        reading.operand = static_cast<int>(i);
      }
      operands.push_back(Inner(reading));
    }
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
  ValueId Inner(const Reading& reading) {
    const ValueId outer = reading.value;
    if (auto it = inner_.find(outer); it != inner_.end()) return it->second;
    const auto [input, is_new] = inputs_.try_emplace(reading);
    if (is_new) {
      operands_.push_back(outer);
      input->second =
          body_->AddInput(InputName(outer), graph_.type(outer).RowMajor());
    }
    return input->second;
  }

  // Names in a body must be unique.
  std::string InputName(ValueId outer) const {
    const std::string& name = graph_.value(outer).name;
    const bool taken = absl::c_any_of(body_->inputs(), [&](ValueId input) {
      return body_->value(input).name == name;
    });
    return taken ? "" : name;
  }

  const Graph& graph_;
  std::unique_ptr<Graph> body_;
  ValueMap inner_;  // members' results -> the body's
  absl::flat_hash_map<Reading, ValueId> inputs_;
  ValueIds operands_;  // of the fused node, by body input
};

// The results of the last member, and others that are outputs or updates of the
// graph.
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

// A node with this body, alone in a graph.
absl::StatusOr<std::unique_ptr<Graph>> AloneWith(std::unique_ptr<Graph> body) {
  auto alone = std::make_unique<Graph>("alone", &body->literals());
  NodeSpec spec{.op = &kFused};
  for (ValueId input : body->inputs()) {
    spec.operands.push_back(alone->AddInput("", body->type(input)));
  }
  spec.regions.push_back(std::move(body));
  PARTITA_RETURN_IF_ERROR(alone->AddNode(std::move(spec)).status());
  return alone;
}

}  // namespace

absl::StatusOr<bool> KeepsDivision(const Graph& graph,
                                   const std::vector<NodeId>& members) {
  BodyBuilder builder(graph, "body");
  JointPlacement joint;
  for (NodeId member : members) {
    PARTITA_RETURN_IF_ERROR(builder.Add(member));
    joint.Admit(graph.node(member));
  }
  if (!joint.is_sharded()) return true;
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Graph> alone,
      AloneWith(builder.Finish(ResultsOf(graph, members))));
  const OpView fused = alone->ops()[0];
  const DimensionRule rule = fused.op().dimension_rule(fused);
  const Sharding& division = joint.get().results[0];
  const DimensionRule::Dims& dims = rule.results[0];
  const bool exists =
      division.dim >= 0 && division.dim < static_cast<int>(dims.size());
  if (division.kind != Sharding::Kind::kSplit || !exists) return true;
  const Factor& factor = rule.factors[dims[division.dim].front()];
  return factor.kind == Factor::Kind::kKept;
}

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
  // A pin that shards results shards those of all members alike.
  std::vector<Sharding>& shardings = spec.placement.results;
  if (!shardings.empty()) shardings.resize(results.size(), shardings[0]);
  spec.regions.push_back(builder.Finish(results));
  PARTITA_ASSIGN_OR_RETURN(const NodeId fused,
                           graph.AddNode(std::move(spec), last));
  for (size_t i = 0; i < results.size(); ++i) {
    graph.ReplaceAllUses(results[i], graph.node(fused).results[i]);
  }
  // From the last one, as a node may be erased only when nothing reads it.
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
    // A body may return its own input, whose name the caller keeps.
    if (graph.value(inner).defining_node.index >= first) {
      graph.value(inner).name = graph.value(old).name;
    }
    graph.ReplaceAllUses(old, inner);
  }
  graph.Erase(fused);
  return absl::OkStatus();
}

}  // namespace partita
