// Which task must have ended before another may start, whatever their streams.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_
#define PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_

#include <vector>

#include "placement/lower/plan_draft.h"

namespace partita {

// By task, the tasks that it follows, ascending and each once: the writers of
// what it reads and, where it overwrites a variable, the readers of the old
// value.
std::vector<std::vector<int>> FindDependencies(const PlanDraft& draft);

// The same both ways, with all parts of a collective as one: its first part
// waits for what any of them needs, and the others go with it.
struct Dependence {
  std::vector<int> first_part;  // by task; no part of a collective: itself
  std::vector<std::vector<int>> before;
  std::vector<std::vector<int>> after;
};
Dependence FindDependence(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEPENDENCIES_H_
