// Where a module stores the variables that its functions update.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_
#define PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace partita {

// By name of each variable that some function updates: its one placement in all
// functions. Not placed until a function decides.
using VariableHomes = std::map<std::string, Placement>;

VariableHomes HomesToDecide(const Module& module);

// The order in which functions decide, as indices: functions that update
// variables go first, and among equals those with more flops.
std::vector<int> DecidingOrder(const Module& module);

// Places the function's variable nodes at their decided homes. True if it
// placed one.
bool WriteHomes(const VariableHomes& homes, Graph& function);
// Stores the homes that the placed function has decided.
void DecideHomes(const Graph& function, VariableHomes& homes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_
