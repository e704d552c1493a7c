// Shares by the number of the thread.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/team/team.h"

#include "kernels/team/openmp_calls.h"
#include "kernels/team/thread_team.h"

namespace partita {

void RunShares(int threads, int64_t count,
               absl::FunctionRef<void(int, int64_t, int64_t)> share) {
  const int64_t team = WithinThreadLimit(threads);
  if (team == 1 || ThreadTeam::ThisMember() != nullptr || IsInLibgompRegion()) {
    return share(0, 0, count);
  }
  ThreadTeam::Run(
      static_cast<int>(team), static_cast<int>(team), [&](int thread) {
        share(thread, thread * count / team, (thread + 1) * count / team);
      });
}

}  // namespace partita
