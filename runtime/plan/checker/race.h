// No race: two commands that touch a common byte, one of them writing, are
// ordered by the facts that every executor keeps.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/launch_nodes.h"

namespace partita {

// One pass in launch order; two consecutive steps if steps may overlap. Needs:
// progress without findings, so that facts lead forward.
void CheckRaces(const EntryView& view, const Partners& partners,
                Findings& findings);

// What a command writes is disjoint from all else that it touches, but for a
// result in the place of an operand that its signature allows.
void CheckInsideCommands(const EntryView& view, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_
