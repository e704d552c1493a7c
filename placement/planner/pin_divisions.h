// Whether pins divide what the passes have left of their nodes as they say.
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

// "fused %y, made of conv %c and relu %y"; of any other node "relu %y".
std::string TextWithParts(const OpView& node);

// Call after the passes. An error for the first node whose pin divides it along
// a dimension whose parts cannot be computed apart, or over more devices than
// it has parts. Names the pin.
absl::Status CheckPinDivisions(const Module& module,
                               absl::Span<const WrittenPin> pins);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PIN_DIVISIONS_H_
