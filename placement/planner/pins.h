// The user's own choices, resolved to nodes and devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PINS_H_
#define PARTITA_PLACEMENT_PLANNER_PINS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "placement/cost/cost_model.h"
#include "placement/planner/planner.h"

namespace partita {

// Shell-style: * is any run of characters, ? any one; the whole text matches.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

// The pin of each node by node id; null where the user said nothing. Constants
// take the devices of their readers whatever pins say. An error for a device
// that the machine lacks, a pattern that matches no node, a dimension along
// which a matching node cannot be cut, and a device without a kernel for it.
absl::StatusOr<std::vector<const Pin*>> ResolvePins(const CostModel& costs,
                                                    absl::Span<const Pin> pins);

// The placement that a pin asks of a node: its devices and, for several of
// them, the sharding of operands and results that the op's dimension rule gives
// for a cut along `pin.dim` of the results.
absl::StatusOr<Placement> PinnedPlacement(const OpView& node, const Pin& pin);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PINS_H_
