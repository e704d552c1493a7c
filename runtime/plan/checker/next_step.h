// Value from step to step: what persistent ranges hold.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/named_memory.h"
#include "runtime/plan/checker/names.h"

namespace partita {

// The persistent ranges of all entries of the plan, as a step of this entry
// finds them.
void DefinePersistentValues(const EntryView& view, Names& names,
                            NamedMemory& memory);

// They must end the step as this entry's graph says, and every update of a
// variable must be kept in one of them.
void CheckNextStep(const EntryView& view, Names& names, NamedMemory& memory,
                   Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_
