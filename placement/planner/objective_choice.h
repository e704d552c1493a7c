// What users ask a search to minimize.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_OBJECTIVE_CHOICE_H_
#define PARTITA_PLACEMENT_PLANNER_OBJECTIVE_CHOICE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace partita {

enum class Goal : uint8_t {
  kLatency,     // of a step alone
  kThroughput,  // the time between steps, with `depth` steps in flight
  kMemory,      // the bytes on the device that needs most
};

struct ObjectiveChoice {
  Goal goal = Goal::kLatency;
  // For kMemory: the time between steps that a plan must not exceed.
  double most_step_seconds = std::numeric_limits<double>::infinity();
};

// The texts without seconds: "latency", "throughput", "memory".
std::vector<std::string> ObjectiveNames();

// One of these, or "memory:0.01" with the seconds of a step. InvalidArgument,
// whose message starts with what was found, for another text.
absl::StatusOr<ObjectiveChoice> ParseObjective(absl::string_view text);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_OBJECTIVE_CHOICE_H_
