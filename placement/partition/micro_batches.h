// The graph of one micro-batch, made of that of a whole batch.
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

namespace partita {

// In which order a device takes up the forward and backward parts of
// micro-batches.
enum class PipelineSchedule : uint8_t {
  kOneForwardOneBackward,  // backward as soon as can be: few are under way
  kGPipe,                  // forward of all, then backward of all
};

// How a function's step goes through its batch.
struct MicroBatches {
  int count = 1;
  PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward;
  // By input of the graph: each micro-batch takes its own part of it, one
  // behind the other along the first dimension. Empty if there is one only.
  std::vector<bool> divided_inputs;
};

// InvalidArgument unless `count` divides the batch of every function, that of
// the inputs of these names (FindBatch), with the nearest counts that do.
absl::Status CheckMicroBatches(const Module& module, int count,
                               absl::Span<const std::string> batch_inputs = {});

// Makes a graph of one of `count` micro-batches; its nodes stand for their
// instances in each:
//
//   before                            after, count 4
//   %y = matmul %x, %w : f32[8, 3]    %y     = matmul %x, %w : f32[2, 3]
//   %g = matmul %xt, %y : f32[4, 3]   %g     = matmul %xt, %y : f32[4, 3]
//                                     %g.sum = accumulate %g {micro_batches =
//                                     4}
//   %n = sub %w, %g                   %n     = sub %w, %g.sum
//
// * What reads the batch is divided along it, by its dimension rule.
// * Behind a node that sums over the batch stands an `accumulate`. What depends
//   on such sums, variables and constants only is as it was, and runs once.
// * A constant of all examples that is the same for each of them, such as
// zeros,
//   has the extent of one micro-batch for who reads it so.
// * An output of examples has the first dimension of one micro-batch.
// * Random numbers have an origin that advances, so that each micro-batch draws
//   what its examples draw in the whole batch.
//
// InvalidArgument if the batch has no such parts, with the nearest counts that
// divide it, or lists the first 20 nodes, outputs and updates that need the
// whole batch at once, and says which inputs were taken to hold it. Needs: no
// device sets but pins.
absl::StatusOr<MicroBatches> DivideIntoMicroBatches(
    Graph& graph, int count, absl::Span<const std::string> batch_inputs = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PARTITION_MICRO_BATCHES_H_
