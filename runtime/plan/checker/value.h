// Value: every byte that is read has the name that the graph asks for.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_VALUE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_VALUE_H_

#include <vector>

#include "runtime/plan/checker/entry_view.h"
#include "runtime/plan/checker/finding.h"
#include "runtime/plan/checker/launch_nodes.h"

namespace partita {

// One serial run over names in launch order. Without races, every run reads
// what this run reads. `entries` are all entries of the plan; their persistent
// ranges must end the step as this entry's graph says. Needs: form and progress
// without findings.
void CheckValues(const EntryView& view, const Partners& partners,
                 const std::vector<LaunchNode>& nodes, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_VALUE_H_
