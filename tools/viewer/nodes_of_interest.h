// The nodes whose placement a page explains.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_NODES_OF_INTEREST_H_
#define PARTITA_TOOLS_VIEWER_NODES_OF_INTEREST_H_

#include <vector>

#include "tools/viewer/plan_view.h"

namespace partita {

// Boxes of the entry, at most `most`: first those that findings are about, then
// those with the largest parts of the critical path, then those that take
// longest. What the compiler inserted stands for the node that made its value.
// Only nodes with a kernel.
std::vector<int> NodesOfInterest(const ViewedEntry& entry, int most);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_NODES_OF_INTEREST_H_
