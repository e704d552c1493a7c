// Value from step to step: the contents of persistent ranges.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/named_memory.h"
#include "runtime/plan/checker/names.h"

namespace partita {

// Names the persistent ranges of all entries of the plan as a step of this
// entry finds them.
void DefinePersistentValues(const EntryView& view, Names& names,
                            NamedMemory& memory);

// At the end of the step persistent ranges hold what this entry's graph says,
// and every update of a variable is in one of them.
void CheckNextStep(const EntryView& view, Names& names, NamedMemory& memory,
                   Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_NEXT_STEP_H_
