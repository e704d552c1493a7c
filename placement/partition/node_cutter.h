// Nodes cut into parts, one after the other, and how their values then lie.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_NODE_CUTTER_H_
#define PARTITA_PLACEMENT_PARTITION_NODE_CUTTER_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/dimension_rule.h"
#include "graph/graph.h"
#include "graph/op_view.h"

namespace partita {

struct BatchDivision {
  // By node id: how its part of a node is cut off; not placed for a node that
  // each part needs whole.
  std::vector<Placement> cuts;
  // By value id: along what a value is divided for its readers. Sums over the
  // batch are whole to them.
  std::vector<Sharding> shardings;
};

// Cuts nodes of one graph, which must outlive it. `parts` names the parts, as a
// placement names devices.
class NodeCutter {
 public:
  NodeCutter(const Graph& graph, absl::InlinedVector<std::string, 1> parts,
             BatchDivision& division)
      : graph_(graph), parts_(std::move(parts)), division_(division) {}

  const absl::InlinedVector<std::string, 1>& parts() const { return parts_; }
  int num_parts() const { return static_cast<int>(parts_.size()); }
  const BatchDivision& division() const { return division_; }
  bool IsCut(NodeId node) const { return division_.cuts[node.index].placed(); }

  // The rule of its op, or that which keeps it whole.
  static DimensionRule RuleOf(const OpView& op);

  // The node cut as a value whose dimensions are `dims` in its rule is split;
  // nothing if that is not along a factor of this kind.
  std::optional<Placement> CutLike(const OpView& op, const DimensionRule& rule,
                                   const DimensionRule::Dims& dims,
                                   const Sharding& split,
                                   Factor::Kind kind) const;
  void Cut(const OpView& op, Placement cut);
  // The node's only result is there in these parts: a variable's.
  void Store(NodeId node, const Sharding& split);

  // How every reader of a node's one result takes it, if all of them divide it
  // alike.
  std::optional<Sharding> WantedByAll(const OpView& op) const;

 private:
  const Graph& graph_;
  const absl::InlinedVector<std::string, 1> parts_;
  BatchDivision& division_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_NODE_CUTTER_H_
