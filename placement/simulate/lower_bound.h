// What no plan for a machine can beat.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_

#include "absl/types/span.h"
#include "placement/cost/cost_model.h"
#include "placement/planner/planner.h"

namespace partita {

// Both count every node at the fastest device that has a kernel for it, by its
// fastest kernel there, and transfers not at all (no cut bound is computed:
// with room on one device nothing need be cut). Plans may cut a node along any
// factor that its dimension rule has: over all devices, but for no more parts
// than the factor has elements. Relies on the parts of a node taking no less
// together than the whole does.
struct LowerBound {
  double critical_path = 0;  // seconds of the longest chain, each node cut
  double device_load = 0;    // all work, divided evenly over the devices
  // Latency: the larger of both. Throughput: the load; steps may overlap.
  double seconds = 0;
};

// Of the graph as optimised, before any plan places it. `plan_work`, by node
// id: what all members of a node take together in a plan that is known, and
// that no bound may exceed; 0 or missing where it is not.
// `runs`, by node id: how often a step runs it, as once for each micro-batch; 1
// where it is missing.
LowerBound BoundStep(const CostModel& costs, Goal goal,
                     absl::Span<const double> plan_work = {},
                     absl::Span<const int> runs = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
