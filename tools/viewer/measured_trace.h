// Reads the output of `partita run --trace`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_MEASURED_TRACE_H_
#define PARTITA_TOOLS_VIEWER_MEASURED_TRACE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/id_vector.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// One measured step of one entry.
struct MeasuredTrace {
  std::string source;  // the file
  int entry = 0;
  // Start and end, in seconds.
  IdVector<CommandId, std::pair<double, double>> commands;
  double end = 0;  // of the last command
  // Names of devices that software emulated: times of the step are not those of
  // the plan's devices. Ascending; empty for traces that do not say.
  std::vector<std::string> emulated;
};

// `json` in Chrome's format. It must have exactly one span for each command of
// one entry, with the name, device and kind of its stream; only traces of
// measurements are accepted. Otherwise InvalidArgument, naming the event; also
// for files of more than 256 MiB.
absl::StatusOr<MeasuredTrace> ReadMeasuredTrace(absl::string_view json,
                                                absl::string_view source,
                                                const PlanView& plan);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_MEASURED_TRACE_H_
