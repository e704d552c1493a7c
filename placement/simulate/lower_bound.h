// A lower bound on the step time of any plan for a machine.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_

#include <cstdint>
#include <string>

#include "placement/cost/cost_model.h"
#include "placement/simulate/step_floor.h"

namespace partita {

// What limits every plan.
enum class BoundBy : uint8_t {
  kNothing,       // a graph without work
  kCriticalPath,  // kernels in sequence
  kLaunches,
  kPorts,  // feeds and fetches
  kLink,   // transfers between devices
  kLoad,   // kernels of a device
};

struct LowerBound {
  double critical_path = 0;  // seconds of the longest path
  double load = 0;           // seconds in which all devices can do all the work
  // The larger of both. Overlapping steps each have a share of the path.
  double seconds = 0;
  BoundBy by = BoundBy::kNothing;
  // The devices whose load, launches or ports decide ("gpu:0 and 3 like it"),
  // or the link ("cpu:0 - gpu:0"). Empty if launches or ports of a path do.
  std::string where;
};

// The share of the step that the best of all plans may save: 0.25 if the bound
// is three quarters of the step. 0 for a step of 0 seconds.
double OptimalityGap(double step_seconds, double bound_seconds);

// "critical path", "load of gpu:0", "launches on gpu:0", "feeds and fetches of
// cpu:0", "link cpu:0 - gpu:0"; "" for kNothing.
std::string BoundByText(const LowerBound& bound);

// The bound for an optimised graph that is not yet placed, for plans as
// placement/lower makes them: the kernels, feeds and fetches of a device run in
// one stream, or in one each (DeviceKindTraits::ports_beside_kernels).
//   1. Every node, feed and fetch takes its least time (step_floor.h). A plan
//      may shard a node along any factor of its dimension rule, over all
//      devices. Assumes that the shards of a node together take no less than
//      the whole node, or than those of `known`.
//   2. The longest path (path_bound.h), with the transfers that it cannot
//      avoid. Overlapping steps share it if any device overlaps steps.
//   3. The load (load_bound.h) of the kernels within the memory for constants.
//      It has the feeds and fetches too, unless some device has them beside
//      kernels: then it is the largest of the loads of all three.
LowerBound BoundStep(const CostModel& costs, const KnownStep& known = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_LOWER_BOUND_H_
