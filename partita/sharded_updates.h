// Counts the weights with sharded updates.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_SHARDED_UPDATES_H_
#define PARTITA_PARTITA_SHARDED_UPDATES_H_

#include "graph/graph.h"

namespace partita {

// For the trainable variables that a function updates.
struct ShardedUpdates {
  int sharded = 0;
  int all = 0;
};

// For a placed function of the module. A weight's update is sharded if it is
// computed split, and the weight then gathered.
ShardedUpdates CountShardedUpdates(const Module& module, const Graph& graph);

}  // namespace partita

#endif  // PARTITA_PARTITA_SHARDED_UPDATES_H_
