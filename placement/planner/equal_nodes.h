// Sets of nodes that cost the same everywhere, so that they can move together.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_EQUAL_NODES_H_
#define PARTITA_PLACEMENT_PLANNER_EQUAL_NODES_H_

#include <vector>

#include "placement/planner/placement_draft.h"

namespace partita {

// The computing nodes that are not pinned, by op and types of operands and
// results. A view is in no set, though a node of its op and types may compute
// (a slice that is not aligned). Each set is in the graph's order; so are the
// sets, by their first nodes.
std::vector<std::vector<NodeId>> EqualNodes(const PlanRequest& request);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_EQUAL_NODES_H_
