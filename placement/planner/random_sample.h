// Random graphs and machines for tests and benchmarks of planners.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_RANDOM_SAMPLE_H_
#define PARTITA_PLACEMENT_PLANNER_RANDOM_SAMPLE_H_

#include <cstdint>
#include <random>

#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/machine.h"

namespace partita {

// Each node reads up to three earlier values and perhaps a weight.
struct RandomSample : SampleGraph {
  RandomSample(int nodes, std::mt19937& random);
};

// `count` CPUs of `memory` bytes each; `unequal` of them have memory bandwidths
// of their own.
Machine UnequalCpus(int count, int unequal, int64_t memory);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_RANDOM_SAMPLE_H_
