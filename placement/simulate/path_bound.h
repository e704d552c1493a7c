// The longest path through a graph, from the feeds to the fetches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_PATH_BOUND_H_
#define PARTITA_PLACEMENT_SIMULATE_PATH_BOUND_H_

#include "graph/id_vector.h"
#include "graph/ids.h"
#include "placement/cost/cost_model.h"
#include "placement/simulate/device_groups.h"
#include "placement/simulate/step_floor.h"

namespace partita {

// Seconds along a path, by what they are spent on.
struct PathSeconds {
  double kernels = 0;  // without launches
  double launches = 0;
  double ports = 0;            // feeds and fetches
  double transfers = 0;        // between groups
  const Link* link = nullptr;  // of the last transfer
  double total() const { return kernels + launches + ports + transfers; }
};

struct PathBound {
  PathSeconds longest;
  // The earliest time at which a value is on some device, and the least time
  // from then to the end of the step; by value id, 0 without bytes.
  IdVector<ValueId, double> heads;
  IdVector<ValueId, double> tails;
};

// A path leads through values with bytes: no command waits for others. Each
// node of a path runs on the group on which it ends first, sharded over all
// devices. Its operands come from there or over a route between groups.
//   1. In order, for each value and group: the earliest time at which a device
//      of the group has a shard of it.
//   2. In reverse order: tails, without transfers.
// kSmallest: for every shard of each value, so that any path has these times.
// kLargest: some path has them, that of the largest shards. Needs: one group,
// where all ranks of a node take as long as the slowest; with several, which
// shards are where is unknown.
PathBound BoundPaths(const CostModel& costs, const DeviceGroups& groups,
                     const StepFloor& floor, ShardSize size);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_PATH_BOUND_H_
