// Reads objectives.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/objective_choice.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace partita {
namespace {

struct NamedGoal {
  absl::string_view name;
  Goal goal;
};
constexpr NamedGoal kGoals[] = {{"latency", Goal::kLatency},
                                {"throughput", Goal::kThroughput},
                                {"memory", Goal::kMemory}};

}  // namespace

std::vector<std::string> ObjectiveNames() {
  std::vector<std::string> names;
  for (const NamedGoal& goal : kGoals) names.emplace_back(goal.name);
  return names;
}

absl::StatusOr<ObjectiveChoice> ParseObjective(absl::string_view text) {
  for (const NamedGoal& goal : kGoals) {
    if (text == goal.name) return ObjectiveChoice{goal.goal};
  }
  double seconds = 0;
  absl::string_view number = text;
  const bool is_valid = absl::ConsumePrefix(&number, "memory:") &&
                        absl::SimpleAtod(number, &seconds) &&
                        std::isfinite(seconds) && seconds > 0;
  if (is_valid) return ObjectiveChoice{Goal::kMemory, seconds};
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", text, "; expected ", absl::StrJoin(ObjectiveNames(), ", "),
      ", or memory:SECONDS with the ",
      "seconds that a step may take, as in memory:0.01"));
}

}  // namespace partita
