// Classes of ready tasks, by which all launch orders rank them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_URGENCY_H_
#define PARTITA_PLACEMENT_LOWER_URGENCY_H_

#include <cstdint>

#include "graph/id_vector.h"
#include "placement/lower/delayed_all_reduces.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Classes of ready tasks in a unit run; lower ones run first.
enum class Urgency : uint8_t {
  kOfOtherStreams,  // copies; collectives, feeds and fetches with own streams
  kOfKernels,
  // The tasks of FindDelayed. Readers of a finished all-reduce, or of a
  // gathered shard, run before the next all-reduce, while caches hold its
  // result.
  kAfterCollectives,
  kDelayedCollectives,
  kOfFetches,
};

// By task.
IdVector<TaskId, Urgency> FindUrgency(const PlanDraft& draft,
                                      const Dependence& dependence,
                                      DelayedAllReduces delayed);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_URGENCY_H_
