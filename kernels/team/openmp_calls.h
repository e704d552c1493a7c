// A library's parallel loops on our own threads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TEAM_OPENMP_CALLS_H_
#define PARTITA_KERNELS_TEAM_OPENMP_CALLS_H_

namespace partita {

// While one exists, what this thread calls of OpenMP runs on its ThreadTeam:
// parallel regions (of as many threads as they ask for, up to OMP_THREAD_LIMIT;
// nested ones of one), barriers, and who is in them. libgomp decides how long
// its own threads spin from the environment, when it is loaded, which is too
// early for a library. Programs that link this one call it in libgomp's place,
// and everything outside of such a scope is handed on to libgomp; so is all
// where the dynamic linker finds libgomp first.
class OwnThreadsScope {
 public:
  OwnThreadsScope();
  ~OwnThreadsScope();
  OwnThreadsScope(const OwnThreadsScope&) = delete;
  OwnThreadsScope& operator=(const OwnThreadsScope&) = delete;
};

// True in a parallel region that libgomp itself runs: ours are then of one
// thread, as nested ones are.
bool IsInLibgompRegion();

// What OMP_THREAD_LIMIT leaves of so many threads.
int WithinThreadLimit(int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_TEAM_OPENMP_CALLS_H_
