// Completes drafts and checks kernels and links.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/placement_draft.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "graph/views.h"
#include "placement/partition/sharded_placement.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

bool Placed(const Draft& draft, NodeId node) {
  return !draft.assignment[node].devices.empty();
}

// The first reader, in the order of its uses, that has a device.
NodeId FirstPlacedReader(const CostModel& costs, const Draft& draft,
                         ValueId value) {
  NodeId first;
  for (const Use& use : costs.graph().value(value).uses) {
    if (!Placed(draft, use.node)) continue;
    if (!first.valid() || costs.position(use.node) < costs.position(first)) {
      first = use.node;
    }
  }
  return first;
}

void Follow(Draft& draft, NodeId node, NodeId other, ValueId value) {
  draft.assignment[node] = {.devices = draft.assignment[other].devices};
  draft.why[node].reason = Reason::kFollows;
  draft.why[node].value = value;
}

// A node without readers and placed operands goes to the first device.
void PutNearReader(const CostModel& costs, Draft& draft, NodeId node) {
  for (ValueId result : costs.graph().node(node).results) {
    const NodeId reader = FirstPlacedReader(costs, draft, result);
    if (!reader.valid()) continue;
    const Node& reading = costs.graph().node(reader);
    const ValueId read = reading.results.empty() ? result : reading.results[0];
    Follow(draft, node, reader, read);
    return;
  }
  Put(draft, node, MachineDeviceId(0), {});
}

absl::Status NoPort(const PlanRequest& request, NodeId node,
                    absl::string_view value, MachineDeviceId device) {
  return absl::FailedPreconditionError(absl::StrCat(
      request.graph().view(node).ToString(), ": found ", value, " on ",
      request.costs.device_name(device),
      " and no link between that and a CPU; expected one; add one to the "
      "machine file, or keep what reads inputs and makes outputs on other "
      "devices with a pin"));
}

// By value id.
std::vector<bool> FetchedValues(const PlanRequest& request) {
  std::vector<bool> fetched(request.graph().value_id_bound(), false);
  if (!request.options.output_device.empty()) return fetched;
  for (ValueId output : request.graph().outputs()) fetched[output.index] = true;
  return fetched;
}

// The ports that a node on these devices needs: each is fed, the first one is
// fetched from. `fetched` as FetchedValues.
absl::Status CheckPorts(const PlanRequest& request,
                        const std::vector<bool>& fetched, NodeId node,
                        absl::Span<const MachineDeviceId> devices) {
  const CostModel& costs = request.costs;
  const auto no_ports = absl::c_find_if(devices, [&](MachineDeviceId device) {
    return !costs.has_ports(device);
  });
  if (no_ports == devices.end()) return absl::OkStatus();
  const Graph& graph = request.graph();
  for (ValueId operand : graph.node(node).operands) {
    if (graph.value(operand).defining_node.valid()) continue;
    return NoPort(request, node,
                  absl::StrCat("input ", ValueText(graph, operand)), *no_ports);
  }
  if (costs.is_stored(node) || no_ports != devices.begin()) {
    return absl::OkStatus();
  }
  for (ValueId result : graph.node(node).results) {
    if (!fetched[result.index]) continue;
    return NoPort(request, node,
                  absl::StrCat("output ", ValueText(graph, result)), *no_ports);
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<MachineDeviceId> DevicesToChoose(const PlanRequest& request) {
  const CostModel& costs = request.costs;
  IdVector<MachineDeviceId, bool> may(costs.num_devices(),
                                      !request.options.follows_variables);
  for (const OpView& variable : request.graph().ops(kVariable)) {
    for (const std::string& device : variable.node().placement.devices) {
      may[costs.FindDevice(device)] = true;
    }
  }
  std::vector<MachineDeviceId> devices;
  for (MachineDeviceId device : costs.devices()) {
    if (may[device]) devices.push_back(device);
  }
  return devices;
}

void Put(Draft& draft, NodeId node, MachineDeviceId device, PlacedNode why) {
  draft.assignment[node] = {.devices = {device}};
  draft.why[node] = std::move(why);
}

void PutPinned(const PlanRequest& request, Draft& draft) {
  for (NodeId node : request.costs.order()) {
    const Placement* pin = request.pin(node);
    if (pin == nullptr || request.costs.is_stored(node)) continue;
    NodeDevices& place = draft.assignment[node];
    place.devices.clear();
    for (const std::string& name : pin->devices) {
      place.devices.push_back(request.costs.FindDevice(name));
    }
    // CheckPinDivisions has checked that the node has such shards, also of a
    // micro-batch.
    const Placement whole =
        ShardNode(request.graph().view(node), *pin).value_or(*pin);
    place.operands = whole.operands;
    place.results = whole.results;
    draft.why[node].reason = Reason::kPinned;
  }
}

void PutFollowers(const PlanRequest& request, Draft& draft) {
  const CostModel& costs = request.costs;
  const Graph& graph = request.graph();
  // 1. Views of computed values, in order, so that chains of them resolve.
  for (NodeId node : costs.order()) {
    if (!costs.is_view(node) || Placed(draft, node)) continue;
    const int operand = ViewsOf(graph.view(node))->front().operand;
    const ValueId viewed = graph.node(node).operands[operand];
    const NodeId maker = graph.value(viewed).defining_node;
    if (maker.valid() && Placed(draft, maker)) {
      Follow(draft, node, maker, viewed);
    }
  }
  // 2. The rest backwards: readers come before what they read.
  for (auto it = costs.order().rbegin(); it != costs.order().rend(); ++it) {
    if (!Placed(draft, *it)) PutNearReader(costs, draft, *it);
  }
}

absl::Status CheckLinks(const PlanRequest& request, const Draft& draft) {
  const CostModel& costs = request.costs;
  const Graph& graph = request.graph();
  const std::vector<bool> fetched = FetchedValues(request);
  for (NodeId node : costs.order()) {
    PARTITA_RETURN_IF_ERROR(
        CheckPorts(request, fetched, node, draft.assignment[node].devices));
    for (ValueId operand : graph.node(node).operands) {
      const NodeId maker = graph.value(operand).defining_node;
      if (!maker.valid() || costs.is_stored(maker)) continue;
      const NodeDevices& from = draft.assignment[maker];
      for (MachineDeviceId to : draft.assignment[node].devices) {
        const auto reaches = [&](MachineDeviceId device) {
          return device == to || costs.link(device, to) != nullptr;
        };
        if (absl::c_any_of(from.devices, reaches)) continue;
        return absl::FailedPreconditionError(absl::StrCat(
            graph.view(node).ToString(), ": found operand ",
            ValueText(graph, operand), " on ",
            costs.device_name(from.devices[0]), " and no link from there to ",
            costs.device_name(to),
            "; expected a direct link; add one to the machine file or keep "
            "both on one device with a pin"));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<Placement> PlacementsOf(const PlanRequest& request,
                                    const Draft& draft) {
  std::vector<Placement> placements(draft.assignment.size());
  for (NodeId id : request.costs.order()) {
    Placement& placement = placements[id.index];
    const NodeDevices& place = draft.assignment[id];
    for (MachineDeviceId device : place.devices) {
      placement.devices.push_back(request.costs.device_name(device));
    }
    placement.operands = place.operands;
    placement.results = place.results;
  }
  return placements;
}

PlacementTable ToTable(const PlanRequest& request, const Draft& draft,
                       absl::string_view strategy) {
  PlacementTable table;
  table.strategy = std::string(strategy);
  table.nodes.assign(draft.why.begin(), draft.why.end());
  std::vector<Placement> placements = PlacementsOf(request, draft);
  for (size_t i = 0; i < placements.size(); ++i) {
    table.nodes[i].placement = std::move(placements[i]);
  }
  return table;
}

absl::Status CheckKernelsExist(const CostModel& costs) {
  for (NodeId id : costs.order()) {
    bool runs = false;
    for (MachineDeviceId device : costs.devices()) {
      runs |= costs.cost(id, device).can_run;
    }
    if (runs) continue;
    const OpView node = costs.graph().view(id);
    return absl::UnimplementedError(absl::StrCat(
        node.ToString(), ": found no kernel on any device of ",
        costs.machine().name, " for (", node.OperandTypesText(),
        "); expected one; add a device that has one, or rewrite the node"));
  }
  return absl::OkStatus();
}

absl::Status CheckRunsAll(const PlanRequest& request, MachineDeviceId device) {
  const std::vector<bool> fetched = FetchedValues(request);
  for (NodeId node : request.costs.order()) {
    if (request.pin(node) != nullptr) continue;
    if (request.costs.cost(node, device).can_run) {
      PARTITA_RETURN_IF_ERROR(CheckPorts(request, fetched, node, {device}));
      continue;
    }
    const OpView op = request.graph().view(node);
    return absl::UnimplementedError(absl::StrCat(
        op.ToString(), ": found no kernel on ",
        request.costs.device_name(device), " for (", op.OperandTypesText(),
        "); expected one device that runs every node; try strategy list"));
  }
  return absl::OkStatus();
}

double SecondsOf(const CostModel& costs, NodeId node,
                 const NodeDevices& place) {
  if (place.sharded()) return costs.sharded_seconds(node);
  double seconds = 0;
  for (MachineDeviceId device : place.devices) {
    seconds = std::max(seconds, costs.cost(node, device).seconds);
  }
  return seconds;
}

}  // namespace partita
