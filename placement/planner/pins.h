// Pins: the user's placements, written on the nodes that they name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PINS_H_
#define PARTITA_PLACEMENT_PLANNER_PINS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/cost/cost_model.h"
#include "placement/machine/machine.h"

namespace partita {

// Nodes whose scope or result name matches `pattern` (match_pattern.h) go to
// `devices`. They are whole on each device or, if `dim` is not negative,
// sharded along dimension `dim` of their results. Nodes that match by scope or
// wildcard may belong to a generated gradient; those that cannot be sharded
// stay whole. Pins that match one node must agree on its placement.
struct Pin {
  std::string pattern;
  std::vector<std::string> devices;
  int dim = -1;
};

// A pin and the nodes that it placed.
struct WrittenPin {
  struct On {
    int function = 0;
    NodeId node;       // invalid if its results are not needed
    std::string name;  // of its first result
    Placement placement;
  };
  std::string text;  // "h=gpu:0", or "relu %h on gpu:0" from a graph's text
  std::vector<On> nodes;
  bool is_in_text = false;  // from the graph's text, not from the caller
};

// Writes the pins into Node::placement, where passes and planners find them.
// Call before the passes, so that pins match the nodes that the user wrote. A
// node with a placement keeps it: `on` in a graph's text overrides all pins.
// Shardings of operands are dropped, as they follow from the results.
// InvalidArgument for an unknown device, for a split over one device, for a
// pattern that matches no node or no node that can be sharded along `dim`, and
// for two pins that disagree on a node.
absl::StatusOr<std::vector<WrittenPin>> WritePins(Module& module,
                                                  const Machine& machine,
                                                  absl::Span<const Pin> pins);

// The texts of the pins without a node in the module after the passes: their
// nodes were folded, removed as no-ops, or had no readers.
std::vector<std::string> PinsWithoutNodes(const Module& module,
                                          absl::Span<const WrittenPin> pins);

// An error if a node is pinned to an unknown device or to one without a kernel
// for it. Pins on constants do not count: constants go where they are read.
absl::Status CheckPins(const CostModel& costs);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PINS_H_
