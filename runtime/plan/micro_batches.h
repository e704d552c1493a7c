// Finds which values of an entry's graph differ between micro-batches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_
#define PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_

#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// The number of micro-batches in the schedule.
int CountMicroBatches(const Entry& entry);

// By value id of the entry's graph: true if the value differs between
// micro-batches. An input varies if its port holds several values.
std::vector<bool> VaryingValues(const Entry& entry);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_
