// A graph as planners see it: computing nodes and the values between them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_FLOW_H_
#define PARTITA_PLACEMENT_PLANNER_FLOW_H_

#include <vector>

#include "placement/cost/cost_model.h"

namespace partita {

// Views are seen through: a node that reads a view reads its root.
struct FlowItem {
  NodeId node;
  std::vector<ValueId> sources;  // inputs and computed values, each once
  std::vector<ValueId> stored;   // constants and variables, each once
};

// By root value.
struct FlowValue {
  int maker = -1;            // item; -1: a graph input or stored
  std::vector<int> readers;  // items, ascending, each once
  bool is_output = false;    // of the graph, or a variable's new value
};

struct Flow {
  explicit Flow(const CostModel& costs);

  std::vector<FlowItem> items;    // in the graph's order
  std::vector<FlowValue> values;  // by value id
};

// Devices of which every two are joined by a link: the fastest first, then each
// next fastest that is joined to all taken. All devices, if all are joined.
// Ascending.
std::vector<int> LinkedDevices(const CostModel& costs);
// Devices from the fastest (all nodes that it can run, and ten times the mean
// of the others' seconds for those that it cannot) to the slowest.
std::vector<int> FastestFirst(const CostModel& costs);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_FLOW_H_
