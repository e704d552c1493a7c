// Critical path and load of a graph on a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/lower_bound.h"

#include <algorithm>
#include <limits>

#include "graph/instance.h"
#include "graph/op_def.h"

namespace partita {
namespace {

// Zero for a node that runs nowhere, as no plan runs it at all, and for copies
// and reorders: another plan may do without.
double FastestSeconds(const CostModel& costs, NodeId node) {
  if (costs.graph().node(node).op->traits.placed_only) return 0;
  double fastest = std::numeric_limits<double>::infinity();
  for (int d = 0; d < costs.num_devices(); ++d) {
    if (!costs.cost(node, d).can_run) continue;
    fastest = std::min(fastest, costs.cost(node, d).seconds);
  }
  return fastest < std::numeric_limits<double>::infinity() ? fastest : 0;
}

}  // namespace

LowerBound BoundStep(const CostModel& costs, Goal goal) {
  LowerBound bound;
  std::vector<double> done(costs.graph().value_id_bound(), 0);
  double work = 0;
  for (NodeId id : costs.order()) {
    const Node& node = costs.graph().node(id);
    const double seconds = FastestSeconds(costs, id);
    const bool cut = IsCut(costs.graph().view(id));
    const double chained =
        cut ? seconds / node.placement.devices.size() : seconds;
    double start = 0;
    for (ValueId operand : node.operands) {
      start = std::max(start, done[operand.index]);
    }
    for (ValueId result : node.results) done[result.index] = start + chained;
    bound.critical_path = std::max(bound.critical_path, start + chained);
    work += seconds;
  }
  bound.device_load = work / std::max(1, costs.num_devices());
  bound.seconds = goal == Goal::kThroughput
                      ? bound.device_load
                      : std::max(bound.critical_path, bound.device_load);
  return bound;
}

}  // namespace partita
