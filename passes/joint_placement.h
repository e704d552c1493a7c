// Keeps nodes with different pins or constraints separate.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_JOINT_PLACEMENT_H_
#define PARTITA_PASSES_JOINT_PLACEMENT_H_

#include <optional>

#include "graph/graph.h"

namespace partita {

// Before a planner runs, a node's placement is what the user wants: a pin, or
// groups that constraints are about (Placement::groups), or nothing. A pass
// that replaces several nodes by one admits each of them here, and skips them
// if one is refused. Pinned and unpinned nodes may become one pinned node;
// nodes with different pins may not. The same holds for nodes in groups and in
// none, and for nodes in different groups.
class JointPlacement {
 public:
  // False, and no change, if the node cannot be merged with those before it. A
  // sharded node can be merged only with nodes of the same sharding.
  bool Admit(const Node& node);

  // The placement of the node that replaces the admitted ones.
  const Placement& get() const;
  // True if it shards the node's results.
  bool is_sharded() const { return !get().results.empty(); }

 private:
  std::optional<Placement> placement_;  // set by the first admitted node
};

}  // namespace partita

#endif  // PARTITA_PASSES_JOINT_PLACEMENT_H_
