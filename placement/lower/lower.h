// From a placed graph with chosen kernels to a plan.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LOWER_H_
#define PARTITA_PLACEMENT_LOWER_LOWER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "placement/machine/machine.h"
#include "placement/partition/micro_batches.h"
#include "runtime/plan/plan.h"

namespace partita {

struct LowerOptions {
  // Number of steps that may overlap. Every arena has this many step parts.
  int depth = 1;
  // By function. Empty: the whole batch is one micro-batch.
  std::vector<MicroBatches> micro_batches;
  // Search effort for smaller arenas: comparisons of conflicting buffers, for
  // each device and function.
  int64_t search_budget = 8'000'000;
};

// Needs: every function partitioned for `machine`, and a kernel on every node
// that computes. The steps, one file each:
//   shards               what each device holds of each value
//   tasks                the commands; views need none
//   micro_batch_order    the order of micro-batches and pipeline stages
//   schedule             launch order; streams for kernels, for collectives and
//                        for copies to each device
//   updates              new values of variables made in place
//   clocks               the necessary waits
//   in_place             results in the bytes of an operand
//   live_ranges          when bytes are live
//   conflicts            which bytes may not overlap, by happens-before
//   pack, pack_by_time   addresses
//   persistent           constants and variables
//   emit                 the entry
//   programs             its commands, invoked for each micro-batch
// The plan lists the devices that are used. InvalidArgument if `depth` is out
// of range. ResourceExhausted, with the details that planner/refusal.h reads,
// if a device is too small. FailedPrecondition if an earlier phase left a node
// unfinished; the message names it. Unimplemented for a resharding of too many
// blocks, or for updates that overlapping steps cannot order.
absl::StatusOr<Plan> Lower(Module module, const Machine& machine,
                           const LowerOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LOWER_H_
