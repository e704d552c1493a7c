// A machine with no room at all: it runs nodes one by one in launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_TIGHT_MACHINE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_TIGHT_MACHINE_H_

#include <string>

#include "runtime/plan/checker/oracle/unrolled.h"

namespace partita {

// Where the machine gets stuck, or empty. It has one thread: a command that
// must wait for one that is not yet launched waits for ever. Channels hold
// exactly as many messages as they state; parts of a node are gathered as the
// list brings them, and nothing else runs before all are there.
std::string WhereTightMachineSticks(const Unrolled& program);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_TIGHT_MACHINE_H_
