// Step 6: which bytes may not be shared.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LIFETIMES_H_
#define PARTITA_PLACEMENT_LOWER_LIFETIMES_H_

#include <vector>

#include "placement/lower/clocks.h"
#include "placement/lower/draft.h"
#include "placement/lower/pack.h"

namespace partita {

// The step part of one device as a packing problem. Two items conflict unless
// everything that touches one has ended before anything that touches the other.
struct DeviceStorages {
  std::vector<int> storages;  // by body of the problem
  PackProblem problem;
  int64_t bound = 0;  // no layout can do with less
};

DeviceStorages FindConflicts(const PlanDraft& draft, const Clocks& clocks,
                             int device);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LIFETIMES_H_
