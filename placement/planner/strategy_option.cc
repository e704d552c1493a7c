// Reads the fields that options of strategies declare.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/strategy_option.h"

#include "absl/strings/str_cat.h"
#include "graph/option_error.h"
#include "placement/planner/strategies.h"

namespace partita {

bool IsGiven(const StrategyOption& option, const PlannerOptions& options) {
  if (option.objective != nullptr) {
    return (options.*option.objective).has_value();
  }
  return option.number != nullptr ? (options.*option.number).has_value()
                                  : !(options.*option.text).empty();
}

absl::Status CheckRange(const StrategyOption& option,
                        const PlannerOptions& options) {
  if (option.number == nullptr || !IsGiven(option, options)) {
    return absl::OkStatus();
  }
  const int64_t found = *(options.*option.number);
  const int64_t least = option.least * option.unit;
  const int64_t most = option.most * option.unit;
  if (found >= least && found <= most) return absl::OkStatus();
  return OfOption(option.name, absl::InvalidArgumentError(absl::StrCat(
                                   option.name, ": found ", found,
                                   "; expected ", least, "..", most)));
}

}  // namespace partita
