// From a graph's text to a plan, as the tests of lowering need it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LOWER_FIXTURE_H_
#define PARTITA_PLACEMENT_LOWER_LOWER_FIXTURE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "placement/lower/lower.h"
#include "placement/machine/machine.h"
#include "runtime/plan/plan.h"

namespace partita {

// `count` devices gpu:0, gpu:1, ..., all linked.
Machine LinkedMachine(int count, int64_t memory = int64_t{1} << 30);

// Parses it; ends the program if that fails, as tests write these by hand.
Module ModuleOf(const std::string& text);

// Binds "test.eval" to every node that computes. Elementwise nodes may work in
// place; matmuls and reductions get a workspace.
void BindTestKernels(Graph& graph);

// Divides the batch of every function as `parts` says, partitions it as its
// nodes say `on DEVICE`, binds test kernels and lowers.
absl::StatusOr<Plan> PlanOf(Module module, const Machine& machine,
                            LowerOptions options = {},
                            const MicroBatches& parts = {});

// Two steps of the plan against eval, with the same inputs, bit for bit,
// variables included. The module is the one before placement.
absl::Status RunsLikeEval(const Module& module, const Plan& plan);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LOWER_FIXTURE_H_
