// The bytes of a port that a feed or fetch moves.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_PORT_OFFSETS_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_PORT_OFFSETS_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/checker/testing/oracle/unrolled.h"

namespace partita {

// The offset in the port of each byte that a feed writes or a fetch reads.
std::vector<int64_t> OffsetsInPort(const Unrolled& program,
                                   const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_TESTING_ORACLE_PORT_OFFSETS_H_
