// Shards nodes one at a time and records the shardings of their values.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_NODE_SHARDER_H_
#define PARTITA_PLACEMENT_PARTITION_NODE_SHARDER_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "graph/dimension_rule.h"
#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/op_view.h"

namespace partita {

struct BatchSharding {
  // The whole graph: no node is sharded.
  explicit BatchSharding(const Graph& graph)
      : nodes(graph.node_id_bound()), values(graph.value_id_bound()) {}

  // The sharding of the node over the ranks. Not placed: every rank runs the
  // whole node.
  IdVector<NodeId, Placement> nodes;
  // The sharding that readers see. Partial sums over the batch count as whole.
  IdVector<ValueId, Sharding> values;
};

// Shards nodes of one graph, which must outlive it. `ranks` names the ranks, as
// a placement names devices.
class NodeSharder {
 public:
  NodeSharder(const Graph& graph, absl::InlinedVector<std::string, 1> ranks,
              BatchSharding& sharding)
      : graph_(graph), ranks_(std::move(ranks)), sharding_(sharding) {}

  const absl::InlinedVector<std::string, 1>& ranks() const { return ranks_; }
  int num_ranks() const { return static_cast<int>(ranks_.size()); }
  const BatchSharding& sharding() const { return sharding_; }
  bool IsSharded(NodeId node) const { return sharding_.nodes[node].placed(); }

  // The dimension rule of its op; default: the rule that keeps it whole.
  static DimensionRule RuleOf(const OpView& op);

  // The node, sharded along the factor that `split` divides in a value with the
  // dimensions `dims` of `rule`. Nothing if the factor is not of this kind.
  std::optional<Placement> ShardLike(const OpView& op,
                                     const DimensionRule& rule,
                                     const DimensionRule::Dims& dims,
                                     const Sharding& split,
                                     Factor::Kind kind) const;
  void Shard(const OpView& op, Placement sharded);
  // Stores a variable, the node's only result, as shards.
  void Store(NodeId node, const Sharding& split);

  // The sharding in which all readers read the node's only result; nothing if
  // they differ or one reads it whole.
  std::optional<Sharding> WantedByAll(const OpView& op) const;

 private:
  const Graph& graph_;
  const absl::InlinedVector<std::string, 1> ranks_;
  BatchSharding& sharding_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_NODE_SHARDER_H_
