// The boxes and edges of a placed graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_READ_BOXES_H_
#define PARTITA_TOOLS_VIEWER_READ_BOXES_H_

#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

// The box of each thing of the entry; -1: none.
struct BoxIndex {
  std::vector<int> by_node;  // NodeId; constants have none
  std::vector<int> by_input;
  std::vector<int> by_output;
};

// Fills `boxes` (without reasons and seconds) and `edges`. The plan must have
// been proved.
BoxIndex ReadBoxes(const Plan& plan, const Entry& entry, ViewedEntry& view);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_READ_BOXES_H_
