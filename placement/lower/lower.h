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
  // Steps that may overlap; the step part of every arena exists so many times.
  int depth = 1;
  // By function; empty: one micro-batch is the whole batch.
  std::vector<MicroBatches> micro_batches;
  // How long to look for smaller arenas, in looks at pairs of buffers that may
  // not share bytes, for each device and function.
  int64_t search_budget = 8'000'000;
};

// Needs: every function partitioned for `machine`, and a kernel on every node
// that computes. The steps, one file each:
//   pieces        what each device holds of each value
//   tasks         the commands, values that are views of others left out
//   turns         which micro-batch goes first, and through which stage
//   schedule      the launch order; streams to compute, one per copy direction
//   updates       new values of variables made in place
//   clocks        waits, none that others imply
//   in_place      results over their operands
//   lifetimes     which bytes may not be shared, by happens-before
//   pack          addresses
//   persistent    constants and variables
//   emit          the entry
//   programs      its commands, invoked for each micro-batch
// The plan lists the devices that are used. ResourceExhausted, with the
// particulars that memory_shortage.h reads, if a device is too small.
// FailedPrecondition names the node that a phase before left unfinished.
absl::StatusOr<Plan> Lower(Module module, const Machine& machine,
                           const LowerOptions& options = {});

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LOWER_H_
