// Runs a library's parallel loops on our own threads.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_THREAD_POOL_OPENMP_CALLS_H_
#define PARTITA_KERNELS_THREAD_POOL_OPENMP_CALLS_H_

namespace partita {

// While one exists, OpenMP calls of this thread run on its ThreadPool: parallel
// regions (with as many threads as they request, up to OMP_THREAD_LIMIT; nested
// ones with one), barriers, and queries of threads. libgomp reads from the
// environment how long its threads spin when it is loaded, which is too early
// for a library. Programs that link this one call it in place of libgomp. Calls
// outside of such a scope go on to libgomp, and so do all if the dynamic linker
// finds libgomp first.
class OwnThreadsScope {
 public:
  OwnThreadsScope();
  ~OwnThreadsScope();
  OwnThreadsScope(const OwnThreadsScope&) = delete;
  OwnThreadsScope& operator=(const OwnThreadsScope&) = delete;
};

// True in a parallel region that libgomp runs. Ours then have one thread, like
// nested ones.
bool IsInLibgompRegion();

// The number of threads that OMP_THREAD_LIMIT leaves of `threads`.
int WithinThreadLimit(int threads);

}  // namespace partita

#endif  // PARTITA_KERNELS_THREAD_POOL_OPENMP_CALLS_H_
