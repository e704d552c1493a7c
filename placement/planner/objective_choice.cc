// Reads objectives.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/objective_choice.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace partita {

absl::StatusOr<ObjectiveChoice> ParseObjective(absl::string_view text) {
  if (text == "latency") return ObjectiveChoice{Goal::kLatency};
  if (text == "throughput") return ObjectiveChoice{Goal::kThroughput};
  if (text == "memory") return ObjectiveChoice{Goal::kMemory};
  double seconds = 0;
  absl::string_view number = text;
  const bool is_valid = absl::ConsumePrefix(&number, "memory:") &&
                        absl::SimpleAtod(number, &seconds) &&
                        std::isfinite(seconds) && seconds > 0;
  if (is_valid) return ObjectiveChoice{Goal::kMemory, seconds};
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", text,
      "; expected latency, throughput, memory, or memory:SECONDS with the ",
      "seconds that a step may take, as in memory:0.01"));
}

}  // namespace partita
