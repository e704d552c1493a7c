// No race: two commands that access a common byte, at least one of them
// writing, are ordered by the happens-before relation that every executor
// keeps.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/launch_nodes.h"

namespace partita {

// One pass in launch order, over two consecutive steps if steps may overlap.
// Needs: progress without findings, so that every order leads forward.
void CheckRaces(const EntryView& view, const Partners& partners,
                Findings& findings);

// What a command writes overlaps nothing else that it accesses, except a result
// in place of an operand that the command's signature allows.
void CheckInsideCommands(const EntryView& view, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_RACE_H_
