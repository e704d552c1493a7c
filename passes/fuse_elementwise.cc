// Grows clusters from their last op toward operands.
// SPDX-License-Identifier: Apache-2.0

#include "passes/fuse_elementwise.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/id_vector.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/make_fused.h"

namespace partita {
namespace {

// Bounds the search in Contains, which is linear.
constexpr size_t kMaxNodes = 64;

bool CanJoin(const OpView& op) {
  return op.op().traits.elementwise && op.num_results() == 1 &&
         op.node().regions.empty();
}

class Cluster {
 public:
  Cluster(const Graph& graph, const IdVector<NodeId, int>& position,
          IdVector<NodeId, bool>& taken)
      : graph_(graph), position_(position), taken_(taken) {}

  // The cluster that ends in `last`, in graph order.
  std::vector<NodeId> Grow(const OpView& last) {
    joint_.Admit(last.node());
    Add(last.id());
    // Nodes are added in reverse order, so all readers that can be in the
    // cluster are visited before their producers.
    for (size_t next = 0; next < nodes_.size(); ++next) {
      for (ValueId operand : graph_.node(nodes_[next]).operands) {
        if (nodes_.size() < kMaxNodes) Consider(operand, last);
      }
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [&](NodeId a, NodeId b) { return position_[a] < position_[b]; });
    return nodes_;
  }

 private:
  void Add(NodeId node) {
    nodes_.push_back(node);
    taken_[node] = true;
  }

  bool Contains(NodeId node) const {
    return std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end();
  }

  void Consider(ValueId value, const OpView& last) {
    const NodeId maker = graph_.value(value).defining_node;
    if (!maker.valid() || taken_[maker]) return;
    const OpView op = graph_.view(maker);
    if (!CanJoin(op) || op.result_type(0).dims != last.result_type(0).dims) {
      return;
    }
    // A reader outside of the cluster would need the value in memory, and could
    // be on a path back into the cluster: a cycle.
    for (const Use& use : graph_.value(value).uses) {
      if (!Contains(use.node)) return;
    }
    if (joint_.Admit(op.node())) Add(maker);
  }

  const Graph& graph_;
  const IdVector<NodeId, int>& position_;
  IdVector<NodeId, bool>& taken_;
  std::vector<NodeId> nodes_;
  JointPlacement joint_;
};

}  // namespace

absl::Status FuseElementwise(Graph& graph, const PassContext& context) {
  const std::vector<NodeId> order = graph.order();
  IdVector<NodeId, int> position(graph.node_id_bound(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = static_cast<int>(i);
  }
  IdVector<NodeId, bool> taken(graph.node_id_bound(), false);
  std::vector<std::vector<NodeId>> clusters;
  // In reverse order, so that each cluster starts at an op that no reader's
  // cluster includes.
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    const OpView op = graph.view(*node);
    if (taken[*node] || !CanJoin(op)) continue;
    Cluster cluster(graph, position, taken);
    std::vector<NodeId> nodes = cluster.Grow(op);
    if (nodes.size() > 1) clusters.push_back(std::move(nodes));
  }
  for (const std::vector<NodeId>& nodes : clusters) {
    PARTITA_ASSIGN_OR_RETURN(const bool has_kernel,
                             HasKernel(graph, nodes, context));
    if (!has_kernel) continue;
    PARTITA_RETURN_IF_ERROR(MakeFused(graph, nodes, nodes.back()).status());
  }
  return absl::OkStatus();
}

absl::Status FuseElementwise(Graph& graph) {
  return FuseElementwise(graph, PassContext());
}

}  // namespace partita
