// Launch orders for little live memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
#define PARTITA_PLACEMENT_LOWER_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/ids.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/urgency.h"

namespace partita {

using TaskOrder = std::vector<TaskId>;  // all tasks, each once

// A few orders that respect dependencies, without duplicates: the one with the
// smallest peak of live bytes first; ties go to the order of the graph. In
// every order, tasks run by unit run and, in it, by urgency: copies and
// collectives in their own streams as early as they can, then kernels, then the
// tasks of FindDelayed, then fetches. Internal if the dependencies have a
// cycle.
absl::StatusOr<std::vector<TaskOrder>> MemoryOrders(
    const PlanDraft& draft, const Dependence& dependence,
    const IdVector<TaskId, Urgency>& urgency);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_SCHEDULE_H_
