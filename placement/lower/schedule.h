// Step 3: the launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
#define PARTITA_PLACEMENT_LOWER_SCHEDULE_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Puts tasks into launch order: of a few orders that respect dependencies, the
// one with the smallest peak of live bytes, and among equals the one nearest to
// the graph's. In all of them tasks go by their turns, and in each turn copies
// between devices go as early as they can and fetches come last. Internal if
// the dependencies have a cycle.
absl::Status Schedule(PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
