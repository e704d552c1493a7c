// Positions of boxes and groups: layers from top to bottom, and an order within
// each. The page computes sizes, which change as groups fold.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_LAYERED_LAYOUT_H_
#define PARTITA_TOOLS_VIEWER_LAYERED_LAYOUT_H_

#include <string>
#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

struct LayoutItem {
  enum class Kind : uint8_t {
    kBox,
    kGroup,
    kLane,  // where an edge passes a layer between its ends
  };
  Kind kind = Kind::kBox;
  int index = 0;  // of a box or group; for a lane, the item of its source
};

// An edge between two items of a group, routed through the lanes.
struct LayoutRoute {
  int from = 0;  // items
  int to = 0;
  std::vector<int> lanes;
};

struct LayoutGroup {
  std::string name;
  int parent = -1;
  int num_boxes = 0;         // in it and its descendants
  std::vector<int> devices;  // of those, ascending
  std::vector<LayoutItem> items;
  std::vector<std::vector<int>> layers;  // items, from left to right
  std::vector<LayoutRoute> routes;
};

// The groups of the entry by scope; [0] is the root. In each:
//  1. An item is below all items that it reads; one that reads nothing is
//     right above its first reader. If groups read each other in a cycle, the
//     one with the first box is above.
//  2. An edge over several layers gets a lane in each layer between; edges of
//     one item share their lanes.
//  3. Sweeps down and up sort each layer by the mean position of its
//     neighbours.
std::vector<LayoutGroup> LayOut(const ViewedEntry& entry);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_LAYERED_LAYOUT_H_
