// One pass against the order of the graph finds what may wait, one along it
// fills buckets.
// SPDX-License-Identifier: Apache-2.0

#include "placement/partition/fill_buckets.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// A copy that gives every member the whole of what each has a part of.
bool JoinsForAll(const OpView& op) {
  const Placement& placement = op.node().placement;
  return op.is(kCopy) && placement.devices.size() > 1 &&
         ShardingOf(placement.operands, 0).kind == Sharding::Kind::kPartial &&
         ShardingOf(placement.results, 0) == Sharding();
}

// By node id: joins for all, and no other such node depends on it.
std::vector<bool> FindSums(const Graph& graph) {
  std::vector<bool> sums(graph.node_id_bound(), false);
  std::vector<bool> leads_on(graph.value_id_bound(), false);
  const std::vector<OpView> ops = graph.ops();
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    const bool joins = JoinsForAll(*op);
    const bool leads = absl::c_any_of(op->node().results, [&](ValueId result) {
      return leads_on[result.index];
    });
    sums[op->id().index] = joins && !leads;
    if (!joins && !leads) continue;
    for (ValueId operand : op->node().operands) leads_on[operand.index] = true;
  }
  return sums;
}

class Filler {
 public:
  Filler(Graph& graph, int64_t bytes)
      : graph_(graph), room_(bytes), sums_(FindSums(graph)) {}

  absl::Status Run() {
    for (const NodeId node : graph_.order()) {
      if (ReadsBucket(node)) PARTITA_RETURN_IF_ERROR(Close());
      if (IsGradient(node)) PARTITA_RETURN_IF_ERROR(Add(node));
    }
    return Close();
  }

 private:
  bool ReadsBucket(NodeId node) const {
    return absl::c_any_of(graph_.node(node).operands, [&](ValueId operand) {
      return absl::c_any_of(copies_, [&](NodeId copy) {
        return graph_.node(copy).results[0] == operand;
      });
    });
  }

  bool IsGradient(NodeId node) const {
    const OpView op = graph_.view(node);
    return sums_[node.index] && op.operand_type(0).num_bytes() > 0 &&
           !graph_.is_output(op.result(0).id());
  }

  absl::Status Add(NodeId copy) {
    const Placement& placement = graph_.node(copy).placement;
    if (!copies_.empty() &&
        graph_.node(copies_[0]).placement.devices != placement.devices) {
      PARTITA_RETURN_IF_ERROR(Close());
    }
    copies_.push_back(copy);
    filled_ += graph_.view(copy).operand_type(0).num_bytes();
    return filled_ >= room_ ? Close() : absl::OkStatus();
  }

  // The bucket stands where the last of its copies stood.
  absl::Status Close() {
    const std::vector<NodeId> copies = std::move(copies_);
    copies_.clear();
    filled_ = 0;
    if (copies.size() < 2) return absl::OkStatus();
    PARTITA_ASSIGN_OR_RETURN(const NodeId bucket,
                             graph_.AddNode(SpecOf(copies), copies.back()));
    for (size_t i = 0; i < copies.size(); ++i) {
      const ValueId result = graph_.node(bucket).results[i];
      const ValueId before = graph_.node(copies[i]).results[0];
      graph_.value(result).type.layout = graph_.type(before).layout;
      graph_.ReplaceAllUses(before, result);
      graph_.Erase(copies[i]);
    }
    return absl::OkStatus();
  }

  NodeSpec SpecOf(const std::vector<NodeId>& copies) const {
    const Node& last = graph_.node(copies.back());
    NodeSpec spec{
        .op = &kBucket, .scope = last.scope, .location = last.location};
    spec.placement.devices = last.placement.devices;
    for (NodeId id : copies) {
      const Node& copy = graph_.node(id);
      spec.operands.push_back(copy.operands[0]);
      spec.result_names.push_back(graph_.value(copy.results[0]).name);
      spec.placement.operands.push_back(copy.placement.operands[0]);
      spec.placement.results.push_back(copy.placement.results[0]);
    }
    return spec;
  }

  Graph& graph_;
  const int64_t room_;
  const std::vector<bool> sums_;  // by id of the nodes that were there before
  std::vector<NodeId> copies_;    // of the bucket that is being filled
  int64_t filled_ = 0;            // bytes
};

}  // namespace

absl::Status FillBuckets(Graph& graph, int64_t bytes) {
  return Filler(graph, bytes).Run();
}

}  // namespace partita
