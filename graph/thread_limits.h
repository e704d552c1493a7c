// How many threads this process may have.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_THREAD_LIMITS_H_
#define PARTITA_GRAPH_THREAD_LIMITS_H_

#include <cstdint>

namespace partita {

// By its control group, its user's limit and the system's, all threads that
// there are already included, and never more than 8,192: beyond any of them
// OpenMP ends the process.
int64_t MostThreads();

// Of one OpenMP team, by OMP_THREAD_LIMIT; the largest int if nobody set it.
int MostTeamThreads();

}  // namespace partita

#endif  // PARTITA_GRAPH_THREAD_LIMITS_H_
