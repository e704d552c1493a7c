// Whether the times of a plan's notes are times.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_
#define PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.h"

namespace partita {

// InvalidArgument if a predicted time is no number, negative or longer than any
// step, or a command ends before it starts: what a plan file must not hold, so
// that simulator, viewer and timed devices may calculate without asking.
absl::Status CheckPredictedTimes(const PlanNotes& notes);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PREDICTED_TIMES_H_
