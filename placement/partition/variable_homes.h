// Where a module keeps the variables that its functions update.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_
#define PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace partita {

// By name, of every variable that some function updates: the one place that all
// functions find it at. Not placed as long as no function has decided.
using VariableHomes = std::map<std::string, Placement>;

VariableHomes HomesToDecide(const Module& module);

// The order in which functions decide, as indices: those that update variables
// before those that only read them, of each kind the one of most operations
// first.
std::vector<int> DecidingOrder(const Module& module);

// Gives nodes of variables the homes that are decided. True if there are any.
bool WriteHomes(const VariableHomes& homes, Graph& function);
// Takes over what the placed function has decided.
void DecideHomes(const Graph& function, VariableHomes& homes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_VARIABLE_HOMES_H_
