// Collects the flow of a graph and orders devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/flow.h"

#include <algorithm>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

void AddOnce(std::vector<ValueId>& values, ValueId value) {
  if (!absl::c_linear_search(values, value)) values.push_back(value);
}

}  // namespace

Flow::Flow(const CostModel& costs) : values(costs.graph().value_id_bound()) {
  const Graph& graph = costs.graph();
  for (NodeId node : costs.order()) {
    if (!costs.computes(node)) continue;
    const int item = static_cast<int>(items.size());
    items.push_back({node, {}, {}});
    for (ValueId operand : graph.node(node).operands) {
      const ValueId root = costs.root(operand);
      const NodeId maker = graph.value(root).defining_node;
      const bool stored = maker.valid() && costs.is_stored(maker);
      AddOnce(stored ? items.back().stored : items.back().sources, root);
      values[root].is_stored = stored;
      std::vector<int>& readers = values[root].readers;
      if (readers.empty() || readers.back() != item) readers.push_back(item);
    }
    for (ValueId result : graph.node(node).results) {
      values[result].maker = item;
    }
  }
  for (ValueId output : graph.outputs()) {
    values[costs.root(output)].is_output = true;
  }
  for (const VariableUpdate& update : graph.updates()) {
    values[costs.root(update.value)].is_update = true;
  }
  for (FlowItem& item : items) {
    item.reads_input = absl::c_any_of(
        item.sources, [&](ValueId source) { return values[source].maker < 0; });
    item.makes_output = absl::c_any_of(
        graph.node(item.node).results,
        [&](ValueId result) { return values[result].is_output; });
  }
}

std::vector<MachineDeviceId> FastestFirst(const CostModel& costs) {
  IdVector<MachineDeviceId, double> total(costs.num_devices(), 0);
  for (NodeId node : costs.order()) {
    double sum = 0;
    int able = 0;
    for (MachineDeviceId d : costs.devices()) {
      if (!costs.cost(node, d).can_run) continue;
      sum += costs.cost(node, d).seconds;
      ++able;
    }
    for (MachineDeviceId d : costs.devices()) {
      const NodeCost& here = costs.cost(node, d);
      total[d] += here.can_run ? here.seconds : 10 * sum / std::max(1, able);
    }
  }
  std::vector<MachineDeviceId> devices(costs.devices().begin(),
                                       costs.devices().end());
  absl::c_stable_sort(devices, [&](MachineDeviceId a, MachineDeviceId b) {
    return total[a] < total[b];
  });
  return devices;
}

std::vector<MachineDeviceId> LinkedDevices(const CostModel& costs) {
  std::vector<MachineDeviceId> taken;
  for (MachineDeviceId device : FastestFirst(costs)) {
    if (!costs.has_ports(device)) continue;
    const bool linked = absl::c_all_of(taken, [&](MachineDeviceId other) {
      return costs.link(device, other) != nullptr;
    });
    if (linked) taken.push_back(device);
  }
  absl::c_sort(taken);
  return taken;
}

}  // namespace partita
