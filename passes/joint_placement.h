// Passes keep apart what a user pinned apart.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PASSES_JOINT_PLACEMENT_H_
#define PARTITA_PASSES_JOINT_PLACEMENT_H_

#include <optional>

#include "graph/graph.h"

namespace partita {

// Until a planner has run, a node's placement is the user's pin, or none. A
// pass that puts one node in the place of several admits each of them here, and
// leaves them alone where one is refused: pinned and unpinned nodes may become
// one pinned node, nodes with different pins never one.
class JointPlacement {
 public:
  // False, and no change, if the node cannot be one with those before it. What
  // is divided among devices is one only with what is divided in the same way.
  bool Admit(const Node& node);

  // Of the node that takes the place of the admitted ones.
  const Placement& get() const;
  // True if it divides the node's results, by dimensions of their shape.
  bool divides() const { return !get().results.empty(); }

 private:
  std::optional<Placement> placement_;  // once a node was admitted
};

}  // namespace partita

#endif  // PARTITA_PASSES_JOINT_PLACEMENT_H_
