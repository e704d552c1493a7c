// Memory: the arenas of each device fit into its memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_

#include "runtime/plan/checker/finding.h"
#include "runtime/plan/plan.h"

namespace partita {

// Form has shown that every byte is inside the stated parts; this adds up the
// parts. Needs: devices and depths without findings.
void CheckMemory(const Plan& plan, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_
