// The launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
#define PARTITA_PLACEMENT_LOWER_SCHEDULE_H_

#include "absl/status/status.h"
#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Puts tasks into launch order. Tries a few orders that respect dependencies
// and keeps the one with the smallest peak of live bytes; ties go to the order
// of the graph. In every order, tasks run by unit run. Within a unit run,
// copies and collectives in their own streams come first, as early as they can.
// Then come the kernels, then the tasks of FindDelayed, then fetches. Internal
// if the dependencies have a cycle.
absl::Status Schedule(PlanDraft& draft, DelayedAllReduces delayed);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
