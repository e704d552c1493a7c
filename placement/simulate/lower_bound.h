// A lower bound on the step time of any plan for a machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_

#include "absl/types/span.h"
#include "placement/cost/cost_model.h"
#include "placement/planner/planner.h"

namespace partita {

// Both bounds count every node at its fastest device and kernel, and ignore
// transfers. (There is no communication bound: if one device has enough memory,
// nothing need be sharded.) A plan may shard a node along any factor of its
// dimension rule, over all devices, but into no more shards than the factor has
// elements. Assumes that the shards of a node together take no less time than
// the whole node.
struct LowerBound {
  double critical_path = 0;  // seconds of the longest chain, nodes sharded
  double device_load = 0;    // seconds of all work over number of devices
  // Latency: the larger of both. Throughput: the load, because steps may
  // overlap.
  double seconds = 0;
};

// The bound for an optimised graph that is not yet placed. `plan_work`, by node
// id: total seconds of all ranks of the node in a known plan, which the bound
// may not exceed; 0 or missing if unknown. `runs`, by node id: how often a step
// runs the node, such as once per micro-batch; 1 if missing.
LowerBound BoundStep(const CostModel& costs, Goal goal,
                     absl::Span<const double> plan_work = {},
                     absl::Span<const int> runs = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
