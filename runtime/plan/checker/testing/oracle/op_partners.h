// Finds which ops of an unrolled program communicate, and which conflict.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_OP_PARTNERS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_OP_PARTNERS_H_

#include "runtime/plan/checker/testing/oracle/unrolled.h"

namespace partita {

// Fills in the partners of waits, receives and collectives.
void NumberPartners(Unrolled& unrolled);
// Fills in the slots of messages. Needs: numbered messages.
void LocateMessages(Unrolled& unrolled);
// Fills in conflicts over bytes and slots. Needs: located messages.
void FindConflicts(Unrolled& unrolled);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_OP_PARTNERS_H_
