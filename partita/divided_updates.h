// How many weights are updated in parts, one by each replica.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_DIVIDED_UPDATES_H_
#define PARTITA_PARTITA_DIVIDED_UPDATES_H_

#include "graph/graph.h"

namespace partita {

// Of the trainable variables that a function updates.
struct DividedUpdates {
  int divided = 0;
  int all = 0;
};

// Of a placed function of the module. A weight's update is divided if it is
// computed split, and the weight then gathered.
DividedUpdates CountDividedUpdates(const Module& module, const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PARTITA_DIVIDED_UPDATES_H_
