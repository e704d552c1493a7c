// A simulation as a timeline for the viewer.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_
#define PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_

#include "absl/status/statusor.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/chrome_trace.h"
#include "runtime/plan/plan.h"

namespace partita {

// One track per stream, one span per command, and the memory curve of each
// device. The details of a span include the number of the command.
absl::StatusOr<Timeline> PredictedTimeline(const Plan& plan, int entry,
                                           const Simulation& simulation);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_PREDICTED_TIMELINE_H_
