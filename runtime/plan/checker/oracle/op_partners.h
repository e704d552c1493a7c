// Which ops of an unrolled program meet, and which get in each other's way.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_OP_PARTNERS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_OP_PARTNERS_H_

#include "runtime/plan/checker/oracle/unrolled.h"

namespace partita {

// Fills in the partners of waits, receives and parts.
void NumberMeetings(Unrolled& unrolled);
// Fills in where messages lie; they must have been numbered.
void PlaceMessages(Unrolled& unrolled);
// Fills in conflicts over bytes and slots; messages must have been placed.
void FindConflicts(Unrolled& unrolled);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_OP_PARTNERS_H_
