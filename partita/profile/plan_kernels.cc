// Finds the choice behind each binding.
// SPDX-License-Identifier: Apache-2.0

#include "partita/profile/plan_kernels.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/node_kernels.h"
#include "graph/status_macros.h"
#include "partita/backends/built_in_catalog.h"
#include "placement/cost/node_signature.h"

namespace partita {
namespace {

using DevicesByName = absl::flat_hash_map<std::string, const DeviceTraits*>;

// Those of the node, in the order of its ranks; fewer if the plan lacks one.
std::vector<const DeviceTraits*> DevicesOf(const OpView& node,
                                           const DevicesByName& by_name) {
  std::vector<const DeviceTraits*> devices;
  for (const std::string& name : node.node().placement.devices) {
    const auto device = by_name.find(name);
    if (device != by_name.end()) devices.push_back(device->second);
  }
  return devices;
}

}  // namespace

absl::StatusOr<PlanKernels> PlanKernels::Of(const Plan& plan,
                                            const Entry& entry) {
  DevicesByName by_name;
  for (const PlanDevice& device : plan.devices) {
    by_name.emplace(device.traits.name, &device.traits);
  }
  PlanKernels kernels;
  for (const OpView& node : entry.graph->ops()) {
    if (!node.node().kernel.has_value()) continue;
    PARTITA_ASSIGN_OR_RETURN(
        std::vector<NodeRank> ranks,
        RanksOf(node, node.node().placement, DevicesOf(node, by_name)));
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      NodeRank& own = ranks[rank];
      const std::vector<KernelChoice> choices =
          BuiltInCatalog().Choices(own.op, *own.device);
      const KernelChoice* choice = BoundChoice(own.op, choices);
      if (choice == nullptr || choice->kernel != own.op.node().kernel->kernel) {
        continue;
      }
      if (choice->seconds < kLeastNodeSeconds) continue;
      kernels.by_node_and_rank_[{node.id(), static_cast<int>(rank)}] =
          kernels.all_.size();
      MeasuredNode described = UnmeasuredNode(own.op, *own.device, *choice);
      kernels.all_.push_back(
          {std::move(own.shard), own.op, *own.device, std::move(described)});
    }
  }
  return kernels;
}

const PlanKernel* PlanKernels::Find(const Instance& instance) const {
  const auto found = by_node_and_rank_.find({instance.node, instance.rank});
  return found == by_node_and_rank_.end() ? nullptr : &all_[found->second];
}

}  // namespace partita
