// Memory: what arenas take is at most what each device gives.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_

#include "runtime/plan/checker/finding.h"
#include "runtime/plan/plan.h"

namespace partita {

// That every byte lies inside the stated parts is form; here the parts are
// added up. Needs: devices and depths without findings.
void CheckMemory(const Plan& plan, Findings& findings);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_MEMORY_H_
