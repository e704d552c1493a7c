// How many variables are updated in parts, one by each device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_DIVIDED_UPDATES_H_
#define PARTITA_PARTITA_DIVIDED_UPDATES_H_

#include "graph/graph.h"

namespace partita {

struct DividedUpdates {
  int divided = 0;
  int all = 0;
};

// Of a placed graph. A variable's update is divided if what the variable
// becomes is computed split, whether it is then gathered or the variable lies
// in parts itself.
DividedUpdates CountDividedUpdates(const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PARTITA_DIVIDED_UPDATES_H_
