// Step 3: the launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
#define PARTITA_PLACEMENT_LOWER_SCHEDULE_H_

#include "absl/status/status.h"
#include "placement/lower/deferral.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Puts tasks into launch order: of a few orders that respect dependencies, the
// one with the smallest peak of live bytes, and among equals the one nearest to
// the graph's. In all of them tasks go by their turns. In each turn copies and
// collectives that have streams of their own go as early as they can; sums of
// gradients that have none, and what reads any such sum (or these alone), go
// behind the kernels that do without; and fetches last. Internal if the
// dependencies have a cycle.
absl::Status Schedule(PlanDraft& draft, DeferredSums sums);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
