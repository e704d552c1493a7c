// The user's own choices, written on the nodes that they name.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PINS_H_
#define PARTITA_PLACEMENT_PLANNER_PINS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/cost/cost_model.h"
#include "placement/machine/machine.h"

namespace partita {

// Nodes whose scope or result name matches `pattern` (MatchesPattern) go to
// `devices`: whole on each of them, or divided along dimension `dim` of their
// results if it is not negative and they have it. Of those that match by scope
// or by wildcard, which may be nodes of a gradient that nobody has written,
// what cannot be divided so stays whole. Pins that match one node must say the
// same of it.
struct Pin {
  std::string pattern;
  std::vector<std::string> devices;
  int dim = -1;
};

// Shell-style: * is any run of characters, ? any one; the whole text matches.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

// A pin, and the nodes that have their placement from it.
struct WrittenPin {
  struct On {
    int function = 0;
    NodeId node;       // invalid if nobody needs its results
    std::string name;  // of its first result
    Placement placement;
  };
  std::string text;  // "h=gpu:0", or "relu %h on gpu:0" from a graph's text
  std::vector<On> nodes;
  bool is_in_text = false;  // a graph's, and no pin of the caller
};

// Writes the pins into Node::placement, where passes and planners find them:
// before the passes, so that they match the nodes that the user knows. A node
// that has a placement keeps it: `on` in a graph's text stands before all pins.
// What a placement says of operands goes, as it follows from the results.
// InvalidArgument for a device that the machine lacks, for one device to split
// over, for a pattern that matches no node of any function or none that can be
// divided along `dim`, and for two pins that put one node in two places.
absl::StatusOr<std::vector<WrittenPin>> WritePins(Module& module,
                                                  const Machine& machine,
                                                  absl::Span<const Pin> pins);

// The texts of the pins none of whose nodes is left in the module after the
// passes: they were folded, do nothing, or nobody reads them.
std::vector<std::string> PinsWithoutNodes(const Module& module,
                                          absl::Span<const WrittenPin> pins);

// An error if a node is pinned to a device that the machine lacks, or that has
// no kernel for it. Constants go where they are read whatever pins say.
absl::Status CheckPins(const CostModel& costs);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PINS_H_
