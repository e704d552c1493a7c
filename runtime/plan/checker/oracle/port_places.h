// Which bytes of a port a feed or fetch moves.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_PORT_PLACES_H_
#define PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_PORT_PLACES_H_

#include <cstdint>
#include <vector>

#include "runtime/plan/checker/oracle/unrolled.h"

namespace partita {

// For each byte that a feed writes or a fetch reads, its place in the port.
std::vector<int64_t> PlacesOfPort(const Unrolled& program,
                                  const Command& command);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_CHECKER_ORACLE_PORT_PLACES_H_
