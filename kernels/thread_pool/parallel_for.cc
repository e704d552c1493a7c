// Ranges by the number of the thread.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/thread_pool/parallel_for.h"

#include "kernels/thread_pool/openmp_calls.h"
#include "kernels/thread_pool/thread_pool.h"

namespace partita {

void ParallelForRanges(int threads, int64_t count,
                       absl::FunctionRef<void(int, int64_t, int64_t)> body) {
  const int64_t size = WithinThreadLimit(threads);
  if (size == 1 || ThreadPool::ThisRun() != nullptr || IsInLibgompRegion()) {
    return body(0, 0, count);
  }
  ThreadPool::Run(
      static_cast<int>(size), static_cast<int>(size), [&](int thread) {
        body(thread, thread * count / size, (thread + 1) * count / size);
      });
}

}  // namespace partita
