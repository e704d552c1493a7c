// Models of any number of nodes, to measure how compilation grows with it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_BENCH_SCALE_MODELS_H_
#define PARTITA_TESTS_BENCH_SCALE_MODELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace partita {

// The nodes of all functions, sources included.
int NodesOf(const Module& module);

// @layers(%x) -> %y with at least `nodes` nodes: blocks of 32, in each five
// branches of a linear layer and a sigmoid, their sum and a residual. Values
// are small, as only their number matters. InvalidArgument unless both counts
// are positive.
absl::StatusOr<Module> LayeredModel(int nodes, int64_t batch);

// A small GPT's training step and evaluation, with at least `nodes` nodes. The
// errors are those of LayeredModel.
absl::StatusOr<Module> TrainingModel(int nodes, int64_t batch);

}  // namespace partita

#endif  // PARTITA_TESTS_BENCH_SCALE_MODELS_H_
