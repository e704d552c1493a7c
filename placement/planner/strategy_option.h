// An option of one strategy, declared beside it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_STRATEGY_OPTION_H_
#define PARTITA_PLACEMENT_PLANNER_STRATEGY_OPTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "placement/planner/objective_choice.h"

namespace partita {

struct PlannerOptions;

// A field of PlannerOptions, and how users give it: as --NAME ARGUMENT on the
// command line. The flag and its help, the checks, and the refusal of options
// that the chosen strategy does not read all follow from the declaration.
struct StrategyOption {
  const char* name;      // "stages"
  const char* argument;  // "N"
  const char* help;      // "how many"; the strategy is named before it
  // One of these fields. An empty text and no value: the option is not given.
  std::string PlannerOptions::*text = nullptr;
  std::optional<int64_t> PlannerOptions::*number = nullptr;
  std::optional<ObjectiveChoice> PlannerOptions::*objective = nullptr;
  // The argument's range, and its unit: the field has argument * unit.
  int64_t least = 0;
  int64_t most = 0;
  int64_t unit = 1;
  // True: auto reads it too, when it tries the strategy. False: without
  // --strategy the option implies its strategy.
  bool read_by_auto = false;
};

bool IsGiven(const StrategyOption& option, const PlannerOptions& options);

// InvalidArgument for a number out of range; the message starts with the
// option's name.
absl::Status CheckRange(const StrategyOption& option,
                        const PlannerOptions& options);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_STRATEGY_OPTION_H_
