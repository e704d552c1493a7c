// Runs a graph a few times, and reads a time from the trace of each step.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_PROFILE_TRACED_STEPS_H_
#define PARTITA_PARTITA_PROFILE_TRACED_STEPS_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "runtime/executor/session_report.h"
#include "runtime/plan/plan.h"

namespace partita {

// Seconds that are of interest in the trace of a step of these commands.
using TraceReader = absl::FunctionRef<double(
    const CommandList& commands, const std::vector<MeasuredCommand>& trace)>;

// Compiles the only function of `graph`, a text of the IR with one input,
// loads the plan and runs `steps` steps, at least two. Returns the median of
// what `read` returns, over all except the first, which warms up. Errors of
// Compile and Session, such as a device that is not here.
absl::StatusOr<double> MedianOfTraces(const std::string& graph,
                                      const Machine& machine,
                                      const CompileOptions& options, int steps,
                                      TraceReader read);

}  // namespace partita

#endif  // PARTITA_PARTITA_PROFILE_TRACED_STEPS_H_
