// Shell patterns for the names of nodes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_MATCH_PATTERN_H_
#define PARTITA_PLACEMENT_PLANNER_MATCH_PATTERN_H_

#include "absl/strings/string_view.h"

namespace partita {

// True if the pattern covers the whole text: * is any run of characters, ? any
// one. Takes time proportional to the product of both lengths at the most.
bool MatchesPattern(absl::string_view pattern, absl::string_view text);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_MATCH_PATTERN_H_
