// The proof of one entry, rule by rule. Needs for all of them: form without
// findings.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PROOF_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PROOF_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/launch_nodes.h"

namespace partita {

// Constants: no command writes bytes that hold a constant of any entry of the
// plan, not even to restore them before the step ends: an executor may read a
// constant from a mapped file, for all sessions at once.
void CheckConstants(const EntryView& view, Findings& findings);

// Progress: every wait is for an earlier command in launch order, so every step
// ends. Waits inside one node (a collective, a message without a slot) are part
// of the node.
void CheckProgress(const EntryView& view, const Partners& partners,
                   Findings& findings);

// What a command writes overlaps nothing else that it accesses, except a result
// in place of an operand that the command's signature allows.
void CheckInsideCommands(const EntryView& view, Findings& findings);

// No race: two commands that access a common byte, at least one of them
// writing, are ordered by the happens-before relation that every executor
// keeps. One pass in launch order, over two consecutive steps if steps may
// overlap. Needs: progress without findings, so that every order leads forward.
void CheckRaces(const EntryView& view, const Partners& partners,
                Findings& findings);

// Value: every byte that is read has the name that the graph asks for. One
// serial run over names in launch order; without races, every run reads what
// this run reads. Persistent ranges of all entries of the plan must end the
// step as this entry's graph says. Needs: progress without findings.
void CheckValues(const EntryView& view, const Partners& partners,
                 const std::vector<IdRange<CommandId>>& nodes,
                 Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PROOF_H_
