// Moves nodes between a graph and the body of a fused node.
// SPDX-License-Identifier: Apache-2.0

#include "passes/make_fused.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/fused_body.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"

namespace partita {
namespace {

using ValueMap = absl::flat_hash_map<ValueId, ValueId>;

// The results of the last node, and others that are outputs or updates of the
// graph.
ValueIds ResultsOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  ValueIds results = {graph.node(nodes.back()).results[0]};
  for (NodeId node : nodes) {
    const ValueId result = graph.node(node).results[0];
    if (node != nodes.back() && graph.is_output(result)) {
      results.push_back(result);
    }
  }
  return results;
}

JointPlacement PlacementOf(const Graph& graph,
                           const std::vector<NodeId>& nodes) {
  JointPlacement joint;
  for (NodeId node : nodes) joint.Admit(graph.node(node));
  return joint;
}

// A pin that shards results shards those of all nodes alike.
Placement PinOf(const JointPlacement& joint, size_t results) {
  Placement pin = joint.get();
  if (!pin.results.empty()) pin.results.resize(results, pin.results[0]);
  return pin;
}

}  // namespace

absl::StatusOr<bool> KeepsDivision(const Graph& graph,
                                   const std::vector<NodeId>& nodes) {
  const JointPlacement joint = PlacementOf(graph, nodes);
  if (!joint.is_sharded()) return true;
  PARTITA_ASSIGN_OR_RETURN(const std::unique_ptr<Graph> alone,
                           FusedAlone(graph, nodes, ResultsOf(graph, nodes)));
  const OpView fused = alone->ops().back();
  const DimensionRule rule = fused.op().dimension_rule(fused);
  const Sharding& division = joint.get().results[0];
  const DimensionRule::Dims& dims = rule.results[0];
  const bool exists =
      division.dim >= 0 && division.dim < static_cast<int>(dims.size());
  if (division.kind != Sharding::Kind::kSplit || !exists) return true;
  const Factor& factor = rule.factors[dims[division.dim].front()];
  return factor.kind == Factor::Kind::kKept;
}

absl::StatusOr<bool> HasKernel(const Graph& graph,
                               const std::vector<NodeId>& nodes,
                               const PassContext& context) {
  if (context.has_kernel == nullptr) return true;
  const ValueIds results = ResultsOf(graph, nodes);
  PARTITA_ASSIGN_OR_RETURN(
      const std::unique_ptr<Graph> alone,
      FusedAlone(graph, nodes, results,
                 PinOf(PlacementOf(graph, nodes), results.size())));
  return context.has_kernel(alone->ops().back());
}

absl::StatusOr<NodeId> MakeFused(Graph& graph, const std::vector<NodeId>& nodes,
                                 NodeId principal) {
  const NodeId last = nodes.back();
  const ValueIds results = ResultsOf(graph, nodes);
  PARTITA_ASSIGN_OR_RETURN(FusedBody body, FusedBody::Of(graph, nodes));
  body.SetResults(results);
  NodeSpec spec{.op = &kFused,
                .operands = body.operands(),
                .attributes = {},
                .regions = {},
                .result_names = {},
                .scope = graph.node(principal).scope,
                .location = graph.node(principal).location,
                .placement = PinOf(PlacementOf(graph, nodes), results.size())};
  for (ValueId result : results) {
    spec.result_names.push_back(graph.value(result).name);
  }
  spec.regions.push_back(body.Take());
  PARTITA_ASSIGN_OR_RETURN(const NodeId fused,
                           graph.AddNode(std::move(spec), last));
  for (size_t i = 0; i < results.size(); ++i) {
    graph.ReplaceAllUses(results[i], graph.node(fused).results[i]);
  }
  // From the last one, as a node may be erased only when nothing reads it.
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    graph.Erase(*node);
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
