// The difference of two plans, for people and for programs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_DIFF_TEXT_H_
#define PARTITA_TOOLS_PARTITA_DIFF_TEXT_H_

#include <cstddef>
#include <string>

#include "partita/plan_diff.h"

namespace partita {

// Lists of nodes are shortened to this length; the JSON has all.
inline constexpr size_t kMostListedNodes = 20;

// Figures before and after, then what moved, then what is computed by another
// arithmetic. One line if nothing differs.
std::string DiffText(const PlanDiff& diff);
std::string DiffJson(const PlanDiff& diff);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_DIFF_TEXT_H_
