// A 128-bit hash of what a graph computes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_FINGERPRINT_H_
#define PARTITA_GRAPH_FINGERPRINT_H_

#include "graph/graph.h"
#include "graph/literal_pool.h"

namespace partita {

using Fingerprint = ContentHash;

// Covers ops, edges, order, types with layouts, attributes, bodies, constants
// (by content), updates, placements and kernel bindings. Ignores names of
// values, outputs and functions, scopes, source locations, ids and dead nodes.
// So a graph and its parsed text have the same fingerprint.
Fingerprint FingerprintOf(const Graph& graph);

// Covers the variables and, by name, the functions.
Fingerprint FingerprintOf(const Module& module);

}  // namespace partita

#endif  // PARTITA_GRAPH_FINGERPRINT_H_
