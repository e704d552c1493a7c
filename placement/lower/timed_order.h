// A launch order by predicted start times.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TIMED_ORDER_H_
#define PARTITA_PLACEMENT_LOWER_TIMED_ORDER_H_

#include <cstdint>

#include "graph/id_vector.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/schedule.h"
#include "placement/lower/urgency.h"

namespace partita {

// When fetches run: as soon as they can, or after all kernels.
enum class FetchTime : uint8_t { kEarly, kLast };

// The task that can start first is next; of those that start at once, the one
// with the longest path of tasks to the end of the step (HEFT's upward rank,
// with the seconds of each task where it is placed). Tasks run by unit run and,
// in it, by urgency, as in MemoryOrders. `seconds`: by task; a collective takes
// those of its slowest rank. Links count as free.
TaskOrder TimedOrder(const PlanDraft& draft, const Dependence& dependence,
                     const IdVector<TaskId, Urgency>& urgency,
                     const IdVector<TaskId, double>& seconds,
                     FetchTime fetches);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TIMED_ORDER_H_
