// Converts the trace of a step into a timeline for viewers.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_EXECUTOR_MEASURED_TIMELINE_H_
#define PARTITA_RUNTIME_EXECUTOR_MEASURED_TIMELINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/entry_runner.h"
#include "runtime/executor/session_memory.h"
#include "runtime/plan/chrome_trace.h"
#include "runtime/plan/plan.h"

namespace partita {

// One track for each stream and one span for each command. A span is named
// after its node (or buffer, or event) and numbered as in the plan's text.
// `trace` is of a step of `entry` on these devices, which are the plan's.
absl::StatusOr<Timeline> MeasuredTimeline(
    const Plan& plan, const Entry& entry, const Devices& devices,
    const std::vector<MeasuredCommand>& trace);

}  // namespace partita

#endif  // PARTITA_RUNTIME_EXECUTOR_MEASURED_TIMELINE_H_
