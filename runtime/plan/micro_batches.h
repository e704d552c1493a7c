// What of an entry's graph is done anew in each micro-batch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_
#define PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_

#include <vector>

#include "runtime/plan/plan.h"

namespace partita {

// Of which the schedule speaks.
int CountMicroBatches(const Entry& entry);

// By value id of the entry's graph: the value differs from one micro-batch to
// the next. Ports that hold more than one value say which inputs do.
std::vector<bool> VaryingValues(const Entry& entry);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_MICRO_BATCHES_H_
