// Changes the layouts of a plan's graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_SET_LAYOUT_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_SET_LAYOUT_H_

#include "graph/graph.h"
#include "runtime/plan/plan.h"

namespace partita {

// The graph of entry 0.
Graph& EntryGraph(Plan& plan);

// Gives the value the layout and, if a reorder makes it, the reorder the
// attribute.
void SetLayout(Graph& graph, ValueId value, const Layout& layout);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_MUTANTS_SET_LAYOUT_H_
