// Splits nodes by their dimension rules.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/split_moves.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/literal_pool.h"
#include "graph/op_view.h"
#include "placement/partition/sharded_placement.h"
#include "placement/planner/equal_nodes.h"

namespace partita {
namespace {

Placement WholeOn(const CostModel& costs,
                  const std::vector<MachineDeviceId>& devices) {
  Placement whole;
  for (MachineDeviceId device : devices) {
    whole.devices.push_back(costs.device_name(device));
  }
  return whole;
}

// True if the placement splits a constant whose bytes, which lowering needs,
// are not loaded: only their hash is known.
bool SplitsUnloaded(const LiteralPool& literals, const OpView& op,
                    const Placement& placement) {
  for (size_t i = 0; i < placement.operands.size(); ++i) {
    if (placement.operands[i].kind != Sharding::Kind::kSplit) continue;
    const std::optional<OpView> maker =
        op.operand(static_cast<int>(i)).defining_op();
    if (!maker.has_value() || !maker->is(kConstant)) continue;
    if (!literals.has_bytes(maker->attr_literal("value"))) return true;
  }
  return false;
}

// `whole` if the node cannot be split so.
Placement SplitOf(const Graph& graph, NodeId node, const Placement& whole,
                  int dim) {
  const OpView op = graph.view(node);
  if (op.num_results() == 0) return whole;
  const int rank = op.result_type(0).rank();
  const int along = dim < 0 ? rank + dim : dim;
  if (along < 0 || along >= rank) return whole;
  Placement wanted = whole;
  wanted.results.assign(op.num_results(),
                        Sharding{.kind = Sharding::Kind::kSplit, .dim = along});
  const Placement split = ShardNode(op, wanted).value_or(whole);
  return SplitsUnloaded(graph.literals(), op, split) ? whole : split;
}

void PutOn(Draft& draft, NodeId node,
           const std::vector<MachineDeviceId>& devices,
           const Placement& placement) {
  NodeDevices& place = draft.assignment[node];
  place.devices.assign(devices.begin(), devices.end());
  place.operands = placement.operands;
  place.results = placement.results;
  draft.why[node].reason = Reason::kSearched;
}

bool CanRunOn(const CostModel& costs, NodeId node,
              const std::vector<MachineDeviceId>& devices) {
  return absl::c_all_of(devices, [&](MachineDeviceId device) {
    return costs.cost(node, device).can_run;
  });
}

// The nodes with this placement: the whole one, or a split of it.
bool IsOn(const Draft& draft, NodeId node,
          const std::vector<MachineDeviceId>& devices,
          const Placement& placement) {
  const NodeDevices& place = draft.assignment[node];
  return absl::c_equal(place.devices, devices) &&
         place.operands == placement.operands &&
         place.results == placement.results;
}

// The sets of nodes with kernels on the devices, the most seconds first.
std::vector<std::vector<NodeId>> HeaviestFirst(
    const PlanRequest& request, const std::vector<MachineDeviceId>& devices) {
  std::vector<std::pair<double, std::vector<NodeId>>> weighted;
  for (std::vector<NodeId>& nodes : EqualNodes(request)) {
    if (!CanRunOn(request.costs, nodes.front(), devices)) continue;
    const double seconds =
        request.costs.cost(nodes.front(), devices.front()).seconds;
    weighted.emplace_back(seconds * nodes.size(), std::move(nodes));
  }
  absl::c_stable_sort(
      weighted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<NodeId>> sets;
  for (auto& [seconds, nodes] : weighted) sets.push_back(std::move(nodes));
  return sets;
}

}  // namespace

std::vector<MachineDeviceId> EqualDevices(const CostModel& costs) {
  std::vector<MachineDeviceId> most;
  for (MachineDeviceId first : costs.devices()) {
    std::vector<MachineDeviceId> group = {first};
    for (MachineDeviceId device : costs.devices()) {
      const bool joins =
          device > first && absl::c_all_of(group, [&](MachineDeviceId other) {
            return costs.SameSpeed(device, other) &&
                   costs.link(device, other) != nullptr;
          });
      if (joins) group.push_back(device);
    }
    if (group.size() > most.size()) most = std::move(group);
  }
  return most;
}

std::optional<Draft> SplitAll(const PlanRequest& request,
                              const std::vector<MachineDeviceId>& devices,
                              int dim) {
  const CostModel& costs = request.costs;
  const Placement whole = WholeOn(costs, devices);
  Draft draft(request.graph());
  PutPinned(request, draft);
  for (NodeId node : costs.order()) {
    if (costs.is_stored(node) || request.pin(node) != nullptr) continue;
    if (!CanRunOn(costs, node, devices)) return std::nullopt;
    PutOn(draft, node, devices, SplitOf(request.graph(), node, whole, dim));
  }
  PutFollowers(request, draft);
  return draft;
}

std::vector<Draft> SplitMoves(const PlanRequest& request,
                              const std::vector<MachineDeviceId>& devices,
                              const Draft& draft, size_t most) {
  const Placement whole = WholeOn(request.costs, devices);
  const auto placement = [&](NodeId node, std::optional<int> dim) {
    if (!dim.has_value()) return whole;
    return SplitOf(request.graph(), node, whole, *dim);
  };
  std::vector<std::optional<int>> dims = {std::nullopt};
  dims.insert(dims.end(), std::begin(kSplitDimensions),
              std::end(kSplitDimensions));
  std::vector<Draft> moved;
  for (const std::vector<NodeId>& nodes : HeaviestFirst(request, devices)) {
    std::vector<Placement> tried;
    for (const std::optional<int>& dim : dims) {
      if (moved.size() >= most) return moved;
      Placement first = placement(nodes.front(), dim);
      const bool is_known = IsOn(draft, nodes.front(), devices, first) ||
                            absl::c_linear_search(tried, first);
      if (is_known) continue;
      tried.push_back(std::move(first));
      Draft& changed = moved.emplace_back(draft);
      for (NodeId node : nodes) {
        PutOn(changed, node, devices, placement(node, dim));
      }
    }
  }
  return moved;
}

}  // namespace partita
