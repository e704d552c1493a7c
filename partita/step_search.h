// Chooses what users leave open of a training step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_STEP_SEARCH_H_
#define PARTITA_PARTITA_STEP_SEARCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"

namespace partita {

struct StepToCompile {
  CompileOptions options;
  std::string chosen;  // CompileReport::chosen_step
};

// The steps with which to compile the module, the most promising first: at most
// two. The last one is that of the options with the defaults. With a time
// budget there is only the first one, and its search has the time that is left.
//
// A hill climb over the values that the options leave open, by predictions of
// the strategies that lower few drafts (Planner::lowers_many) and, if there are
// constraints, of the search with the fewest evaluations:
//   1. Seeds: the usual step, then each of MicroBatchCountsAbove(1), ascending,
//      by the strategies that may still gain (gaining_strategies.h), until none
//      may, or until a trial would take long.
//   2. Moves from the best, by its strategy: the next larger and smaller number
//      of micro-batches, the other schedule, the next larger and smaller size
//      of buckets. Every better one is kept, round by round, until none is or
//      the trials are used up.
// A change must save more than predictions err. A step that fits nowhere is
// passed over; if none fits, the one that lacks the least memory is the most
// promising. One that cannot be split ends the seeds. Buckets are tried for
// plans with collectives. The number of trials depends on
// PlannerOptions::evaluations and the graph, never on a clock, so the same
// input gives the same step; half of a time budget ends the climb too.
absl::StatusOr<std::vector<StepToCompile>> StepsToCompile(
    const Module& module, const Machine& machine,
    const CompileOptions& options);

}  // namespace partita

#endif  // PARTITA_PARTITA_STEP_SEARCH_H_
