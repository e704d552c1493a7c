// Makes the graph of one micro-batch from the graph of a whole batch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PARTITION_MICRO_BATCHES_H_
#define PARTITA_PLACEMENT_PARTITION_MICRO_BATCHES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/id_vector.h"
#include "graph/ids.h"

namespace partita {

// The order in which a device runs the forward and backward parts of
// micro-batches.
enum class PipelineSchedule : uint8_t {
  kOneForwardOneBackward,  // backward as early as possible: few in flight
  kGPipe,                  // forward of all, then backward of all
};

// How a step of a function splits its batch.
struct MicroBatches {
  IdRange<MicroBatchId> ids() const { return IdRange<MicroBatchId>(count); }
  MicroBatchId last() const { return MicroBatchId(count - 1); }

  int count = 1;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  // By input of the graph: true if each micro-batch reads its own part, in
  // sequence along the first dimension. Empty if `count` is 1.
  std::vector<bool> sharded_inputs;
};

// InvalidArgument, with the nearest valid counts, unless `count` divides the
// batch of every function. `batch_inputs` as in FindBatch.
absl::Status CheckMicroBatches(const Module& module, int count,
                               absl::Span<const std::string> batch_inputs = {});

// Turns a graph into that of one of `count` micro-batches. A node then stands
// for its instances in all micro-batches:
//
//   before                            after, count 4
//   %y = matmul %x, %w : f32[8, 3]    %y     = matmul %x, %w : f32[2, 3]
//   %g = matmul %xt, %y : f32[4, 3]   %g     = matmul %xt, %y : f32[4, 3]
//                                     %g.sum = accumulate %g {micro_batches =
//                                     4}
//   %n = sub %w, %g                   %n     = sub %w, %g.sum
//
// * A node that reads the batch is split along it, by its dimension rule.
// * An `accumulate` follows each node that sums over the batch. Nodes that
//   depend only on such sums, variables and constants are unchanged, and run
//   once.
// * A constant over all examples that is equal for each micro-batch, such as
//   zeros, gets the extent of one micro-batch for readers of the split batch.
// * An output with one row for each example has the first dimension of one
//   micro-batch.
// * The origin of random numbers advances, so that each micro-batch draws the
//   same numbers as its examples do in the whole batch.
//
// InvalidArgument if `count` does not divide the batch, with the nearest valid
// counts. InvalidArgument also lists the first 20 nodes, outputs and updates
// that need the whole batch at once, and names the inputs that were taken to
// hold it. Needs: only pins have device sets.
absl::StatusOr<MicroBatches> DivideIntoMicroBatches(
    Graph& graph, int count, absl::Span<const std::string> batch_inputs = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_MICRO_BATCHES_H_
