// What no plan for a machine can beat.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_

#include "placement/cost/cost_model.h"
#include "placement/planner/planner.h"

namespace partita {

// Both count every node at the fastest device that has a kernel for it, and
// transfers not at all (no cut bound is computed: with room on one device
// nothing need be cut), nor copies and reorders of a placed graph. They hold
// for plans that compute the graph's nodes as they are, and divide those that
// are cut over as many devices: ask after fusion, with the kernels that the
// plan will use.
struct LowerBound {
  double critical_path = 0;  // seconds of the longest chain
  double device_load = 0;    // all work, divided evenly over the devices
  // Latency: the larger of both. Throughput: the load; steps may overlap.
  double seconds = 0;
};

LowerBound BoundStep(const CostModel& costs, Goal goal);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
