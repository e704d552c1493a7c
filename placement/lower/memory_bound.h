// How little memory a plan's order could do with, from the plan alone.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_
#define PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.h"

namespace partita {

struct MemoryBound {
  int64_t step_bytes = 0;  // what the entry takes of the step part, to the last
                           // byte that it touches
  // The heaviest set of buffers no two of which are ordered: all of them may be
  // live at once, so no assignment of addresses needs less.
  int64_t bound_bytes = 0;
};

// By device of the plan. Sizes count in multiples of 64. What shares bytes
// without order between its accesses (views, results in place) counts once.
// Shares no code with what lays memory out. Unimplemented for entries with
// messages.
absl::StatusOr<std::vector<MemoryBound>> BoundMemory(const Plan& plan,
                                                     const Entry& entry);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MEMORY_BOUND_H_
