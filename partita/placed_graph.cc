// Partitions, fills buckets and verifies.
// SPDX-License-Identifier: Apache-2.0

#include "partita/placed_graph.h"

#include "graph/shard.h"
#include "graph/status_macros.h"
#include "graph/verifier.h"
#include "placement/partition/fill_buckets.h"
#include "placement/partition/partition.h"
#include "placement/partition/verify_split.h"

namespace partita {

absl::Status PartitionCopy(const SourceModule& source,
                           const CompileTarget& target, int number,
                           absl::Span<const Placement> placements,
                           const VariableHomes& homes, Graph& graph) {
  const CompileOptions& options = target.options();
  PARTITA_RETURN_IF_ERROR(
      Partition(graph, placements, target.machine(),
                {.output_device = options.output_device, .homes = homes}));
  PARTITA_RETURN_IF_ERROR(FillBuckets(
      graph, options.bucket_bytes.value_or(kUsualBucketBytes),
      VaryingValues(graph, source.MicroBatchesOf(number).sharded_inputs)));
  return Verify(graph);
}

absl::StatusOr<std::vector<std::unique_ptr<Graph>>> PlacedGraphs(
    const SourceModule& source, const CompileTarget& target,
    absl::Span<const std::vector<Placement>> placements,
    LiteralPool& literals) {
  std::vector<std::unique_ptr<Graph>> graphs(placements.size());
  VariableHomes homes = HomesToDecide(source.module());
  for (int i : DecidingOrder(source.module())) {
    const Graph& function = *source.module().functions()[i];
    graphs[i] = function.Clone(&literals);
    PARTITA_RETURN_IF_ERROR(
        PartitionCopy(source, target, i, placements[i], homes, *graphs[i]));
    PARTITA_RETURN_IF_ERROR(VerifySplit(function, *graphs[i]));
    DecideHomes(*graphs[i], homes);
  }
  return graphs;
}

}  // namespace partita
