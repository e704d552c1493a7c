// The user's constraints on one graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_
#define PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/planner/constraint.h"
#include "placement/planner/device_rules.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// A constraint and the nodes of one graph that it is about.
struct NodeConstraint {
  Constraint constraint;
  // Computing nodes by pattern; those to be together as one group. A node that
  // a pass folded or removed is in none.
  std::vector<std::vector<NodeId>> groups;
};

class Constraints {
 public:
  Constraints() = default;
  // Those of request.options, as WriteConstraints (constraint_groups.h) wrote
  // them. InvalidArgument if no placement meets them, the pins and the kernels
  // of the devices: names a smallest set of them that no placement meets
  // (SmallestContradiction).
  static absl::StatusOr<Constraints> Resolve(const PlanRequest& request);

  bool empty() const { return nodes_.empty() && !most_devices_.has_value(); }
  const std::vector<NodeConstraint>& nodes() const { return nodes_; }
  // Of all computing nodes together.
  std::optional<int> most_devices() const { return most_devices_; }
  // FailedPrecondition for the first constraint that the draft breaks.
  absl::Status Check(const PlanRequest& request, const Draft& draft) const;

 private:
  std::vector<NodeConstraint> nodes_;
  std::optional<int> most_devices_;
};

// Those of pins of computing nodes to several devices, each once.
std::vector<DeviceSet> SharedPins(const PlanRequest& request);

// Where the node may compute whole: on the devices of its pin; else on each
// device with a kernel, or on one of `shared` with a kernel on each device.
std::vector<DeviceSet> AllowedSets(const PlanRequest& request, NodeId node,
                                   absl::Span<const DeviceSet> shared);

// Numbers computing nodes by what decides where they may compute: their groups
// (Placement::groups), pin, and devices with kernels.
class NodeClasses {
 public:
  NodeClasses() = default;
  explicit NodeClasses(const PlanRequest& request);

  // -1 for a node that does not compute.
  int of(NodeId node) const { return of_nodes_[node.index]; }

 private:
  std::vector<int> of_nodes_;  // by node id
};

// The variables of a DeviceProblem. Nodes of one class that prefer the same
// devices are one: a solution may treat them alike.
class NodeVariables {
 public:
  // Both must outlive it.
  NodeVariables(const PlanRequest& request, const NodeClasses& classes);

  // `sets` makes DeviceProblem::allowed, from the class and the preferred
  // devices alone; it is asked once for each variable. True if no earlier node
  // has the node's variable.
  bool Add(NodeId node, const DeviceSet& preferred,
           absl::FunctionRef<std::vector<DeviceSet>()> sets);
  bool Has(NodeId node) const { return of_nodes_[node.index] >= 0; }
  // By node id; -1: it was not added.
  const std::vector<int>& of_nodes() const { return of_nodes_; }
  const std::vector<std::vector<DeviceSet>>& allowed() const {
    return allowed_;
  }

 private:
  const NodeClasses& classes_;
  // By class and preferred devices.
  absl::flat_hash_map<std::pair<int, DeviceSet>, int> numbers_;
  std::vector<int> of_nodes_;
  std::vector<std::vector<DeviceSet>> allowed_;  // by variable
};

// The rules of the constraints, for variables of the caller: `variable_of` is
// by node id, -1 for a node without.
std::vector<DeviceRule> RulesOf(const Constraints& constraints,
                                const std::vector<int>& variable_of);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_
