// 128 bits that stand for what a graph computes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_FINGERPRINT_H_
#define PARTITA_GRAPH_FINGERPRINT_H_

#include "graph/graph.h"
#include "graph/literal_pool.h"

namespace partita {

using Fingerprint = ContentHash;

// Of ops, edges, order, types with layouts, attributes, bodies, constants (by
// content), updates, placements and kernel bindings. Names of values, outputs
// and functions, scopes and source locations have no part in it, nor have ids
// and dead nodes. So a graph and its text read back agree.
Fingerprint FingerprintOf(const Graph& graph);

// Of the variables and, by name, of the functions.
Fingerprint FingerprintOf(const Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_FINGERPRINT_H_
