// A team of OpenMP's.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/team/team.h"

#include <omp.h>

namespace partita {

// OpenMP may give fewer threads than it was asked for.
void RunShares(int threads, int64_t count,
               absl::FunctionRef<void(int, int64_t, int64_t)> share) {
  if (threads <= 1) return share(0, 0, count);
#pragma omp parallel num_threads(threads)
  {
    const int64_t thread = omp_get_thread_num();
    const int64_t team = omp_get_num_threads();
    share(static_cast<int>(thread), thread * count / team,
          (thread + 1) * count / team);
  }
}

}  // namespace partita
