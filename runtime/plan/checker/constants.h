// Constants are never written.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_CONSTANTS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_CONSTANTS_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"

namespace partita {

// No command writes bytes that hold a constant of any entry of the plan, not
// even to restore them before the step ends: an executor may read a constant
// from a mapped file, for all sessions at once. Needs: form without findings.
void CheckConstants(const EntryView& view, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_CONSTANTS_H_
