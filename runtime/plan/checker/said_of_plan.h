// The checker's verdict on a plan as text, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_SAID_OF_PLAN_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_SAID_OF_PLAN_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// What stands in the text, and what takes its place.
using TextChanges =
    std::vector<std::pair<absl::string_view, absl::string_view>>;

// "proved", or what the parser or CheckPlan says against the changed text.
std::string Said(const TextChanges& changes, absl::string_view text);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_SAID_OF_PLAN_H_
