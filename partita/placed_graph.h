// Placed graphs without kernels, from the source and a placement.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PLACED_GRAPH_H_
#define PARTITA_PARTITA_PLACED_GRAPH_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/literal_pool.h"
#include "graph/placement.h"
#include "partita/compile_target.h"
#include "partita/source_module.h"
#include "placement/partition/variable_homes.h"

namespace partita {

// Turns a copy of function `number` of the source into the placed graph.
// `placements` are by node id of the source, renumbered. `homes`: of the
// variables, from the functions that have decided.
absl::Status PartitionCopy(const SourceModule& source,
                           const CompileTarget& target, int number,
                           absl::Span<const Placement> placements,
                           const VariableHomes& homes, Graph& graph);

// By function: the placed graphs, over `literals`, a copy of the source's.
// Proves that they compute what the source does. No attempt keeps these graphs
// while its functions get kernels: only the one that becomes the plan needs
// them, for its proof.
absl::StatusOr<std::vector<std::unique_ptr<Graph>>> PlacedGraphs(
    const SourceModule& source, const CompileTarget& target,
    absl::Span<const std::vector<Placement>> placements, LiteralPool& literals);

}  // namespace partita

#endif  // PARTITA_PARTITA_PLACED_GRAPH_H_
