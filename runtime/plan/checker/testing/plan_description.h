// Checks a plan in text form, for tests.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_PLAN_DESCRIPTION_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_PLAN_DESCRIPTION_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace partita {

// Pairs of a text and its replacement.
using TextChanges =
    std::vector<std::pair<absl::string_view, absl::string_view>>;

// "proved", or the error of the parser or of CheckPlan for the changed text.
std::string CheckerVerdict(const TextChanges& changes, absl::string_view text);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_PLAN_DESCRIPTION_H_
