// Checks the times in a plan's notes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_
#define PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.h"

namespace partita {

// InvalidArgument if a predicted time is not a number, negative or longer than
// any step, or if a command ends before it starts. Plan files must pass this,
// so that simulator, viewer and timed devices may use the times unchecked.
absl::Status CheckPredictedTimes(const PlanNotes& notes);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_
