// Splits nodes along the factors of their dimension rules, and prices them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/item_splits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/core_ops.h"
#include "graph/literal_pool.h"
#include "graph/op_def.h"
#include "placement/partition/node_sharder.h"
#include "placement/planner/equal_nodes.h"

namespace partita {
namespace {

bool SplitsUnloaded(const LiteralPool& literals, const OpView& op,
                    const Placement& placement) {
  for (int i = 0; i < op.num_operands(); ++i) {
    if (placement.operands[i].kind != Sharding::Kind::kSplit) continue;
    const std::optional<OpView> maker = op.operand(i).defining_op();
    if (!maker.has_value() || !maker->is(kConstant)) continue;
    if (!literals.has_bytes(maker->attr_literal("value"))) return true;
  }
  return false;
}

bool ShardsAlike(const ItemSplit& a, const ItemSplit& b) {
  return a.operands == b.operands && a.results == b.results;
}

std::vector<Sharding> OneSplit(int count, int index, const Sharding& split) {
  std::vector<Sharding> shardings(count);
  shardings[index] = split;
  return shardings;
}

std::optional<Placement> Sharded(const OpView& node, Placement wanted) {
  absl::StatusOr<Placement> sharded = ShardNode(node, std::move(wanted));
  if (!sharded.ok() || sharded->results.empty()) return std::nullopt;
  return *std::move(sharded);
}

// The first largest set of mutually linked devices of which all pairs are
// alike.
template <typename Alike>
std::vector<MachineDeviceId> LargestLinked(const CostModel& costs,
                                           const Alike& alike) {
  std::vector<MachineDeviceId> most;
  for (MachineDeviceId first : costs.devices()) {
    std::vector<MachineDeviceId> group = {first};
    for (MachineDeviceId device : costs.devices()) {
      const bool joins =
          device > first && absl::c_all_of(group, [&](MachineDeviceId other) {
            return alike(device, other) && costs.link(device, other) != nullptr;
          });
      if (joins) group.push_back(device);
    }
    if (group.size() > most.size()) most = std::move(group);
  }
  return most;
}

}  // namespace

std::vector<MachineDeviceId> SplitDevices(const CostModel& costs) {
  std::vector<MachineDeviceId> identical =
      LargestLinked(costs, [&](MachineDeviceId a, MachineDeviceId b) {
        return costs.SameSpeed(a, b);
      });
  if (identical.size() > 1) return identical;
  const auto kind = [&](MachineDeviceId device) {
    return costs.machine().devices[device.index].traits.kind;
  };
  return LargestLinked(costs, [&](MachineDeviceId a, MachineDeviceId b) {
    return kind(a) == kind(b);
  });
}

std::optional<Placement> SplitByOperand(const OpView& node, int operand,
                                        const ShardedPlacement& value) {
  std::optional<Placement> view = Sharded(
      node,
      {.devices = value.devices,
       .operands = OneSplit(node.num_operands(), operand, value.sharding)});
  if (view.has_value() && view->operands[operand] != value.sharding) return {};
  return view;
}

ItemSplits::ItemSplits(const PlanRequest& request, const Flow& flow)
    : devices_(SplitDevices(request.costs)), splits_(flow.items.size()) {
  for (MachineDeviceId device : devices_) {
    names_.push_back(request.costs.device_name(device));
  }
  if (devices_.size() < 2) return;
  std::vector<int> item_of(request.graph().node_id_bound(), -1);
  for (size_t i = 0; i < flow.items.size(); ++i) {
    item_of[flow.items[i].node.index] = static_cast<int>(i);
  }
  for (const std::vector<NodeId>& nodes : EqualNodes(request)) {
    if (item_of[nodes.front().index] < 0) continue;
    const Priced first{nodes.front(), splits_[item_of[nodes.front().index]]};
    for (NodeId node : nodes) {
      std::vector<ItemSplit> splits =
          SplitsOf(request, request.graph().view(node));
      Price(request, node, first, splits);
      splits_[item_of[node.index]] = std::move(splits);
    }
  }
}

// The same shards take as long, in proportion to the whole nodes: bodies of
// fused nodes with equal types may differ.
void ItemSplits::Price(const PlanRequest& request, NodeId node,
                       const Priced& first,
                       std::vector<ItemSplit>& splits) const {
  const CostModel& costs = request.costs;
  const double whole = costs.cost(node, devices_.front()).seconds;
  const double whole_first = costs.cost(first.node, devices_.front()).seconds;
  for (ItemSplit& split : splits) {
    const auto same = absl::c_find_if(
        first.splits,
        [&](const ItemSplit& other) { return ShardsAlike(other, split); });
    split.seconds = same != first.splits.end() && whole_first > 0
                        ? same->seconds * whole / whole_first
                        : costs.SecondsOfShards(
                              node, {names_, split.operands, split.results});
  }
  splits.erase(std::remove_if(splits.begin(), splits.end(),
                              [](const ItemSplit& split) {
                                return split.seconds ==
                                       std::numeric_limits<double>::infinity();
                              }),
               splits.end());
}

int ItemSplits::SplitLike(int item, int other, int split) const {
  const ItemSplit& wanted = splits_[other][split];
  const auto same = absl::c_find_if(splits_[item], [&](const ItemSplit& own) {
    return ShardsAlike(own, wanted);
  });
  return same == splits_[item].end()
             ? -1
             : static_cast<int>(same - splits_[item].begin());
}

int ItemSplits::Along(int item, int dim) const {
  const std::vector<ItemSplit>& splits = splits_[item];
  const auto found = absl::c_find_if(splits, [&](const ItemSplit& split) {
    return split.results[0].kind == Sharding::Kind::kSplit &&
           split.results[0].dim == dim;
  });
  return found == splits.end() ? -1 : static_cast<int>(found - splits.begin());
}

std::vector<ItemSplit> ItemSplits::SplitsOf(const PlanRequest& request,
                                            const OpView& op) const {
  std::vector<ItemSplit> splits;
  if (op.num_results() == 0) return splits;
  const DimensionRule rule = NodeSharder::RuleOf(op);
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    const absl::StatusOr<Placement> sharded = ShardAlong(
        op, rule, {.factor = static_cast<int>(f)}, {.devices = names_});
    if (!sharded.ok()) continue;
    if (SplitsUnloaded(request.graph().literals(), op, *sharded)) continue;
    splits.push_back({sharded->operands, sharded->results});
  }
  return splits;
}

std::optional<Placement> ItemSplits::SplitByOperand(
    const OpView& node, int operand, const Sharding& sharding) const {
  return partita::SplitByOperand(node, operand, {names_, sharding});
}

std::optional<Placement> ItemSplits::SplitByResult(
    const OpView& node, int result, const Sharding& sharding) const {
  std::optional<Placement> view = Sharded(
      node, {.devices = names_,
             .results = OneSplit(node.num_results(), result, sharding)});
  if (view.has_value() && view->results[result] != sharding) return {};
  return view;
}

}  // namespace partita
