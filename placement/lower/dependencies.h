// Finds the tasks that must end before another one may start, and orders them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_
#define PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_

#include <vector>

#include "graph/id_vector.h"
#include "placement/lower/clocks.h"
#include "placement/lower/ids.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// A task depends on the writers of what it reads and, if it overwrites a
// variable, on the readers of the old value. Streams play no role.

// The dependencies in both directions, ascending, without duplicates. Tasks of
// one collective count as one: the first of them has the dependencies of all,
// the others have none.
struct Dependence {
  // The first task of the collective of each task, or the task itself.
  IdVector<TaskId, TaskId> first_of_collective;
  IdVector<TaskId, std::vector<TaskId>> before;
  IdVector<TaskId, std::vector<TaskId>> after;
};
Dependence FindDependence(const PlanDraft& draft);

// The waits for these dependencies, and what each task knows. Needs:
// launch order.
Clocks ClocksOf(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_
