// A simulation as a timeline to look at.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_
#define PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_

#include "absl/status/statusor.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/chrome_trace.h"
#include "runtime/plan/plan.h"

namespace partita {

// A track for each stream, a span for each command, and the memory curve of
// each device. The command's number is among the details.
absl::StatusOr<Timeline> PredictedTimeline(const Plan& plan, int entry,
                                           const Simulation& simulation);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_
