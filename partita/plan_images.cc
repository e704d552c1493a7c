// Gathers what each instruction set computes, and has it built.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_images.h"

#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/host_capacity.h"
#include "graph/instance.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/catalogs.h"

namespace partita {
namespace {

using DeviceNames = absl::flat_hash_set<std::string>;

// Adds what `devices` compute of the node: itself, or a piece for each of them.
absl::Status AddPieces(const OpView& op, const DeviceNames& devices,
                       std::vector<OpView>& nodes,
                       std::vector<std::unique_ptr<Graph>>& pieces) {
  const auto& members = op.node().placement.devices;
  for (size_t m = 0; m < members.size(); ++m) {
    if (!devices.contains(members[m])) continue;
    nodes.push_back(op);
    if (!HasOwnInstances(op)) break;
    PARTITA_ASSIGN_OR_RETURN(
        std::unique_ptr<Graph> piece,
        CutNode(op, static_cast<int>(m), kTypicalMicroBatch));
    nodes.back() = piece->ops().front();
    pieces.push_back(std::move(piece));
  }
  return absl::OkStatus();
}

// `pieces` own the graphs of cut nodes.
absl::StatusOr<std::vector<OpView>> NodesOn(
    const DeviceNames& devices, const Plan& plan,
    std::vector<std::unique_ptr<Graph>>& pieces) {
  std::vector<OpView> nodes;
  for (const auto& function : plan.module.functions()) {
    for (const OpView& op : function->ops()) {
      if (!op.node().kernel.has_value()) continue;
      PARTITA_RETURN_IF_ERROR(AddPieces(op, devices, nodes, pieces));
    }
  }
  return nodes;
}

}  // namespace

absl::Status BuildPlanImages(absl::Span<const DeviceTraits> devices,
                             Plan& plan) {
  absl::btree_map<std::string, const DeviceTraits*> targets;
  absl::btree_map<std::string, DeviceNames> names;
  for (const DeviceTraits& device : devices) {
    if (device.kind != DeviceKind::kCpu) continue;
    const std::string isa = VectorIsa(MeantIsa(device.isa));
    targets.emplace(isa, &device);
    names[isa].insert(device.name);
  }
  for (const auto& [isa, device] : targets) {
    std::vector<std::unique_ptr<Graph>> pieces;
    PARTITA_ASSIGN_OR_RETURN(const std::vector<OpView> nodes,
                             NodesOn(names[isa], plan, pieces));
    auto images = BuiltInCatalog().BuildImages(nodes, *device);
    if (absl::IsUnimplemented(images.status())) continue;
    PARTITA_RETURN_IF_ERROR(images.status());
    absl::c_move(*images, std::back_inserter(plan.images));
  }
  return absl::OkStatus();
}

}  // namespace partita
