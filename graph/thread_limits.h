// The number of threads that this process may have.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_THREAD_LIMITS_H_
#define PARTITA_GRAPH_THREAD_LIMITS_H_

#include <cstdint>

namespace partita {

// The limit of its control group, its user and the system, including existing
// threads, and at most 8,192. OpenMP ends the process beyond any of these
// limits.
int64_t MostThreads();

// The limit of one OpenMP team from OMP_THREAD_LIMIT; default: the largest int.
int MostTeamThreads();

}  // namespace partita

#endif  // PARTITA_GRAPH_THREAD_LIMITS_H_
