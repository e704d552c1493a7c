// The numbers of micro-batches that are tried for a step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_MICRO_BATCH_COUNTS_H_
#define PARTITA_PARTITA_MICRO_BATCH_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace partita {

inline constexpr int64_t kMostTriedMicroBatches = 256;

// Ascending: divisors of the main function's batch above `count`, each at least
// twice the one before (the first, `count`), and the largest. Empty if the
// module updates no variable.
std::vector<int> MicroBatchCountsAbove(
    int count, const Module& module,
    absl::Span<const std::string> batch_inputs);

// True if the module updates variables.
bool Trains(const Module& module);

}  // namespace partita

#endif  // PARTITA_PARTITA_MICRO_BATCH_COUNTS_H_
