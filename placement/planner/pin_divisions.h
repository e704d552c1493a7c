// Checks that pinned nodes can be sharded as their pins say.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PIN_DIVISIONS_H_
#define PARTITA_PLACEMENT_PLANNER_PIN_DIVISIONS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/op_view.h"
#include "placement/planner/pins.h"

namespace partita {

// "fused %y, made of conv %c and relu %y"; for a node that is not fused "relu
// %y".
std::string TextWithParts(const OpView& node);

// Call after the passes. Returns an error, which names the pin, for the first
// node that cannot be sharded as its pin says: along a dimension with dependent
// shards, or over more devices than there are shards.
absl::Status CheckPinDivisions(const Module& module,
                               absl::Span<const WrittenPin> pins);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PIN_DIVISIONS_H_
