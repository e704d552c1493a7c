// The user's constraints on one graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_
#define PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_

#include <optional>
#include <string>
#include <vector>

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

// The devices on which the node may compute whole: those of its pin, or those
// with a kernel.
std::vector<MachineDeviceId> AllowedDevices(const PlanRequest& request,
                                            NodeId node);

// The rules of the constraints, for variables of the caller: `variable_of` is
// by node id, -1 for a node without.
std::vector<DeviceRule> RulesOf(const Constraints& constraints,
                                const std::vector<int>& variable_of);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_CONSTRAINTS_H_
