// Critical path and load of a graph on a machine.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/lower_bound.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "graph/dimension_rule.h"
#include "graph/id_vector.h"
#include "graph/op_def.h"

namespace partita {
namespace {

// Seconds on the fastest device. 0 for copies and reorders, because another
// plan may not need them, and for nodes that no device can run.
double FastestSeconds(const CostModel& costs, NodeId node) {
  if (costs.graph().node(node).op->traits.placed_only) return 0;
  double fastest = std::numeric_limits<double>::infinity();
  for (MachineDeviceId d : costs.devices()) {
    if (!costs.cost(node, d).can_run) continue;
    fastest = std::min(fastest, costs.cost(node, d).seconds);
  }
  return fastest < std::numeric_limits<double>::infinity() ? fastest : 0;
}

double LeastWork(const CostModel& costs, NodeId node,
                 absl::Span<const double> plan_work) {
  const double fastest = FastestSeconds(costs, node);
  const size_t i = node.index;
  if (i >= plan_work.size() || plan_work[i] == 0) return fastest;
  return std::min(fastest, plan_work[i]);
}

// The largest number of shards that the node may be split into.
int64_t MostRanks(const OpView& node, int devices) {
  if (node.op().dimension_rule == nullptr) return 1;
  int64_t most = 1;
  for (const Factor& factor : node.op().dimension_rule(node).factors) {
    if (factor.kind == Factor::Kind::kWhole) continue;
    most = std::max(most, factor.size);
  }
  return std::min<int64_t>(most, devices);
}

}  // namespace

LowerBound BoundStep(const CostModel& costs, Goal goal,
                     absl::Span<const double> plan_work,
                     absl::Span<const int> runs) {
  LowerBound bound;
  IdVector<ValueId, double> done(costs.graph().value_id_bound(), 0);
  double work = 0;
  for (NodeId id : costs.order()) {
    const Node& node = costs.graph().node(id);
    const double seconds = LeastWork(costs, id, plan_work);
    double end = 0;
    for (ValueId operand : node.operands) {
      end = std::max(end, done[operand]);
    }
    end += seconds / MostRanks(costs.graph().view(id), costs.num_devices());
    for (ValueId result : node.results) done[result] = end;
    bound.critical_path = std::max(bound.critical_path, end);
    const size_t i = id.index;
    work += seconds * (i < runs.size() ? runs[i] : 1);
  }
  bound.device_load = work / std::max(1, costs.num_devices());
  bound.seconds = goal == Goal::kThroughput
                      ? bound.device_load
                      : std::max(bound.critical_path, bound.device_load);
  return bound;
}

}  // namespace partita
