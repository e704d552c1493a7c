// Test fixture: lowers graph text to a plan and runs the plan.
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

// Parses the text. Aborts on error, because tests write the text by hand.
Module ModuleOf(const std::string& text);

// Binds "test.eval" to every node that computes. Elementwise nodes may work in
// place; matmuls and reductions get a workspace.
void BindTestKernels(Graph& graph);

// Splits the batch of every function into `micro_batches`, partitions it by the
// `on DEVICE` of its nodes, binds test kernels, and lowers it.
absl::StatusOr<Plan> PlanOf(Module module, const Machine& machine,
                            LowerOptions options = {},
                            const MicroBatches& micro_batches = {});

// Runs two steps of the plan and compares outputs and variables with eval, bit
// for bit, on the same inputs. `module` is the module before placement.
// Internal if they differ.
absl::Status RunsLikeEval(const Module& module, const Plan& plan);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LOWER_FIXTURE_H_
