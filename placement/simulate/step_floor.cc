// Seconds from the cost model, shares from dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/step_floor.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "graph/core_ops.h"
#include "graph/dimension_rule.h"
#include "graph/op_def.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// True if each node reads the one before it.
bool IsChain(const Graph& body) {
  const std::vector<NodeId> order = body.order();
  for (size_t i = 1; i < order.size(); ++i) {
    const bool reads =
        absl::c_any_of(body.node(order[i]).operands, [&](ValueId operand) {
          return body.value(operand).defining_node == order[i - 1];
        });
    if (!reads) return false;
  }
  return !order.empty();
}

// Of the factor that splits furthest.
int64_t MostShards(const OpView& op) {
  if (op.op().dimension_rule == nullptr) return 1;
  int64_t most = 1;
  for (const Factor& factor : op.op().dimension_rule(op).factors) {
    if (factor.kind != Factor::Kind::kWhole) most = std::max(most, factor.size);
  }
  return most;
}

}  // namespace

StepFloor::StepFloor(const CostModel& costs, const DeviceGroups& groups,
                     const KnownStep& known)
    : costs_(costs),
      groups_(groups),
      known_(known),
      most_shards_(costs.graph().node_id_bound(), 1) {
  for (NodeId node : costs.order()) {
    most_shards_[node] = MostShards(costs.graph().view(node));
  }
}

bool StepFloor::IsFree(NodeId node) const {
  if (!costs_.computes(node)) return true;
  if (costs_.graph().node(node).op->traits.placed_only) return true;
  return absl::c_none_of(costs_.devices(), [&](MachineDeviceId device) {
    return costs_.cost(node, device).can_run;
  });
}

CommandFloor StepFloor::Node(NodeId node, DeviceGroupId group) const {
  if (IsFree(node)) return {};
  const NodeCost& cost = costs_.cost(node, groups_[group].devices[0]);
  if (!cost.can_run) return {0, kNever};
  const double seconds = cost.least_seconds;
  const double launch = std::min(groups_[group].launch, seconds);
  return {launch, std::min(seconds - launch, KnownWork(node))};
}

// The devices of the ranks are unknown, so each may have the longest launch.
double StepFloor::KnownWork(NodeId node) const {
  const size_t i = node.index;
  if (i >= known_.sharded.size() || known_.sharded[i].seconds == 0) {
    return kNever;
  }
  double launch = 0;
  for (DeviceGroupId group : groups_.ids()) {
    launch = std::max(launch, groups_[group].launch);
  }
  const KnownRanks& known = known_.sharded[i];
  return known.ranks * std::max(0.0, known.seconds - launch);
}

CommandFloor StepFloor::Port(ValueId value, DeviceGroupId group) const {
  const double bytes =
      static_cast<double>(costs_.graph().type(value).num_bytes());
  return {groups_[group].port_fixed, groups_[group].port_per_byte * bytes};
}

// Of b blocks over r ranks, the largest shard has at least 1 / r, and the
// smallest b / r blocks, rounded down: least for 2 r - 1 blocks.
double StepFloor::LeastShareOf(int64_t extent, ShardSize size) const {
  const int64_t ranks = costs_.num_devices();
  const int64_t most = size == ShardSize::kLargest ? ranks : 2 * ranks - 1;
  return 1 / static_cast<double>(std::clamp<int64_t>(extent, 1, most));
}

double StepFloor::LeastShare(NodeId node, ShardSize size) const {
  return LeastShareOf(most_shards_[node], size);
}

double StepFloor::LeastShare(ValueId value, ShardSize size) const {
  int64_t longest = 1;
  for (int64_t extent : costs_.graph().type(value).dims) {
    longest = std::max(longest, extent);
  }
  return LeastShareOf(longest, size);
}

bool StepFloor::IsAwaited(ValueId value) const {
  return costs_.graph().type(value).num_bytes() > 0;
}

std::vector<bool> StepFloor::PrecedesAllWork(NodeId node) const {
  const OpView op = costs_.graph().view(node);
  if (!op.is(kFused)) return std::vector<bool>(op.num_operands(), true);
  const Graph& body = op.region(0);
  std::vector<bool> precedes(op.num_operands(), false);
  if (!IsChain(body)) return precedes;
  for (ValueId operand : body.node(body.order().front()).operands) {
    const auto input = absl::c_find(body.inputs(), operand);
    if (input == body.inputs().end()) continue;
    precedes[input - body.inputs().begin()] = true;
  }
  return precedes;
}

std::vector<double> StepFloor::StoredBytes() const {
  const Graph& graph = costs_.graph();
  std::vector<double> bytes(graph.node_id_bound(), 0);
  absl::flat_hash_set<LiteralId> counted;  // partition merges equal constants
  for (NodeId id : costs_.order()) {
    if (IsFree(id)) continue;
    for (ValueId operand : graph.node(id).operands) {
      const ValueId root = costs_.root(operand);
      const NodeId maker = graph.value(root).defining_node;
      if (!maker.valid() || !graph.view(maker).is(kConstant)) continue;
      const LiteralId literal = graph.view(maker).attr_literal("value");
      if (!counted.insert(literal).second) continue;
      bytes[id.index] += static_cast<double>(graph.type(root).num_bytes());
    }
  }
  return bytes;
}

}  // namespace partita
