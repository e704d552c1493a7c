// A machine without slack: it runs nodes one by one in launch order.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TIGHT_MACHINE_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TIGHT_MACHINE_H_

#include <string>

#include "runtime/plan/checker/testing/oracle/unrolled.h"

namespace partita {

// Returns where the machine gets stuck, or "". The machine has one thread: a
// command that waits for a later one waits forever. Channels hold exactly their
// stated number of messages. The commands of a collective must follow one
// another, and nothing else runs before all ranks have arrived.
std::string WhereTightMachineSticks(const Unrolled& program);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_TIGHT_MACHINE_H_
