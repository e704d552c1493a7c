// The groups of nodes that constraints are about, written on the nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_CONSTRAINT_GROUPS_H_
#define PARTITA_PLACEMENT_PLANNER_CONSTRAINT_GROUPS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/planner/constraint.h"

namespace partita {

// The patterns of each group of a constraint: of nodes that must be apart, one
// group for each pattern; of nodes that must be together, a single one.
std::vector<std::vector<std::string>> GroupsOf(const Constraint& constraint);

// InvalidArgument for a pattern that matches no node of the module. Call before
// the passes, so that patterns match the nodes that the user wrote.
absl::Status CheckConstraintPatterns(const Module& module,
                                     absl::Span<const Constraint> constraints);

// Writes the constraints into Placement::groups, where passes and planners find
// them: a node that replaces others has their groups. Nodes that match a
// pattern of the constraint form a group, those to be together a single one.
// Call before the passes, for each function.
void WriteConstraints(Graph& graph, absl::Span<const Constraint> constraints);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_CONSTRAINT_GROUPS_H_
