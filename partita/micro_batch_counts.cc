// Lists divisors of a batch.
// SPDX-License-Identifier: Apache-2.0

#include "partita/micro_batch_counts.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "graph/batch.h"

namespace partita {

bool Trains(const Module& module) {
  return absl::c_any_of(module.functions(), [](const auto& function) {
    return !function->updates().empty();
  });
}

std::vector<int> MicroBatchCountsAbove(
    int count, const Module& module,
    absl::Span<const std::string> batch_inputs) {
  std::vector<int> counts;
  if (!Trains(module)) return counts;
  const int64_t batch = FindBatch(module.main(), batch_inputs).extent;
  int64_t most = std::min(batch, kMostTriedMicroBatches);
  while (most > count && batch % most != 0) --most;
  int64_t least = 2 * int64_t{count};
  for (int64_t parts = int64_t{count} + 1; parts <= most; ++parts) {
    const bool is_next = parts >= least && batch % parts == 0;
    if (!is_next && parts != most) continue;
    counts.push_back(static_cast<int>(parts));
    least = 2 * parts;
  }
  return counts;
}

}  // namespace partita
