// Progress: every wait is for an earlier command in launch order, so every step
// ends.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_PROGRESS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_PROGRESS_H_

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/launch_nodes.h"

namespace partita {

// Waits inside one node (a collective, a message without a slot) are part of
// the node. All other waits must be for commands earlier in the list.
void CheckProgress(const EntryView& view, const Partners& partners,
                   Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_PROGRESS_H_
