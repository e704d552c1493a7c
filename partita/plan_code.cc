// Collects what the devices of each target compute, and builds its code.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_code.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/device_kind_traits.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

using DeviceNames = absl::flat_hash_set<std::string>;

// Adds what `devices` compute of the node: itself, or a shard for each of them.
absl::Status AddShards(const OpView& op, const DeviceNames& devices,
                       std::vector<OpView>& nodes,
                       std::vector<std::unique_ptr<Graph>>& shards) {
  const auto& ranks = op.node().placement.devices;
  for (size_t m = 0; m < ranks.size(); ++m) {
    if (!devices.contains(ranks[m])) continue;
    nodes.push_back(op);
    if (!HasOwnShards(op)) break;
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<Graph> shard,
        ShardOfNode(op, static_cast<int>(m), kTypicalMicroBatch));
    nodes.back() = shard->ops().front();
    shards.push_back(std::move(shard));
  }
  return absl::OkStatus();
}

// `shards` owns the graphs of sharded nodes.
absl::StatusOr<std::vector<OpView>> NodesOn(
    const DeviceNames& devices, const Plan& plan,
    std::vector<std::unique_ptr<Graph>>& shards) {
  std::vector<OpView> nodes;
  for (const auto& function : plan.module.functions()) {
    for (const OpView& op : function->ops()) {
      if (!op.node().kernel.has_value()) continue;
      PARTITA_RETURN_IF_ERROR(AddShards(op, devices, nodes, shards));
    }
  }
  return nodes;
}

}  // namespace

absl::Status BuildPlanCode(absl::Span<const DeviceTraits> devices,
                           const KernelCatalog& catalog, Plan& plan) {
  absl::btree_map<std::string, const DeviceTraits*> targets;
  absl::btree_map<std::string, DeviceNames> names;
  for (const DeviceTraits& device : devices) {
    const std::string target = CodeTargetOf(device);
    if (target.empty()) continue;
    targets.emplace(target, &device);
    names[target].insert(device.name);
  }
  for (const auto& [target, device] : targets) {
    std::vector<std::unique_ptr<Graph>> shards;
    PARTITA_ASSIGN_OR_RETURN(const std::vector<OpView> nodes,
                             NodesOn(names[target], plan, shards));
    auto code_objects = catalog.BuildCode(nodes, *device);
    if (absl::IsUnimplemented(code_objects.status())) continue;
    PARTITA_RETURN_IF_ERROR(code_objects.status());
    absl::c_move(*code_objects, std::back_inserter(plan.code_objects));
  }
  return absl::OkStatus();
}

}  // namespace partita
