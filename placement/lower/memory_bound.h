// A lower bound on the memory of a plan's order, from the plan alone.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_
#define PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

struct MemoryBound {
  // The end of the last byte of the step part that the entry accesses.
  int64_t step_bytes = 0;
  // The heaviest set of pairwise unordered live ranges. All of them may be live
  // at once, so no assignment of addresses needs less.
  int64_t bound_bytes = 0;
};

// By device of the plan. Sizes are rounded up to multiples of 64 bytes. Buffers
// that share bytes without an order between their accesses (views, in-place
// results) count once. Unimplemented for entries with messages.
//
// A count of its own: plans are read from files and made by hand too, and have
// commands and addresses, not the storages of a draft, which live_bytes.h and
// live_ranges.h count. Also, live_bytes.h counts one order of tasks; this bound
// holds for every order that the plan allows.
absl::StatusOr<std::vector<MemoryBound>> BoundMemory(const Plan& plan,
                                                     const Entry& entry);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_
