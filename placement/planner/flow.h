// The planners' view of a graph: computing nodes and the values between them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_FLOW_H_
#define PARTITA_PLACEMENT_PLANNER_FLOW_H_

#include <vector>

#include "graph/id_vector.h"
#include "placement/cost/cost_model.h"

namespace partita {

// A node that reads a view counts as a reader of the view's root.
struct FlowItem {
  NodeId node;
  std::vector<ValueId> sources;  // inputs and computed values, each once
  std::vector<ValueId> stored;   // constants and variables, each once
  // An input or output of the graph: the item's device needs ports
  // (CostModel::has_ports); for an output only if no other device brings it
  // out (PlannerOptions::output_device).
  bool reads_input = false;
  bool makes_output = false;
};

// A root value.
struct FlowValue {
  int maker = -1;            // item; -1: a graph input or stored
  bool is_stored = false;    // a constant or variable
  std::vector<int> readers;  // items, ascending, each once
  bool is_output = false;    // of the graph
  bool is_update = false;    // a variable's new value
};

struct Flow {
  explicit Flow(const CostModel& costs);

  std::vector<FlowItem> items;  // in the graph's order
  IdVector<ValueId, FlowValue> values;
};

// A maximal set of mutually linked devices with ports, ascending. Greedy: takes
// devices from the fastest on, if linked to all taken before.
std::vector<MachineDeviceId> LinkedDevices(const CostModel& costs);
// Devices from the fastest to the slowest, by the seconds of all nodes. A node
// that a device cannot run counts as ten times the other devices' mean.
std::vector<MachineDeviceId> FastestFirst(const CostModel& costs);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_FLOW_H_
