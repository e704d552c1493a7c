// Step 2: the commands that a placed graph needs, in the order of the graph.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_TASKS_H_
#define PARTITA_PLACEMENT_LOWER_TASKS_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"
#include "placement/machine/machine.h"

namespace partita {

// Fills in storages, streams and tasks. Needs: pieces. Leaves: every piece that
// a task touches in a storage.
//
// A feed goes before the first reader of its input, a copy after its operand's
// producer, a fetch to the end. Ops that only move bytes, and whose results are
// one aligned interval of an operand, need no task: their pieces lie in the
// operand's storage.
absl::Status ListTasks(PlanDraft& draft, const Machine& machine);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_TASKS_H_
