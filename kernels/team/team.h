// Loops whose iterations the threads of a team share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TEAM_TEAM_H_
#define PARTITA_KERNELS_TEAM_TEAM_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace partita {

// Calls share(thread, begin, end) for consecutive parts of [0, count), of
// lengths as equal as can be, each on a thread of its own, numbered from 0;
// with one thread, once on the caller's. Returns when all are done. The threads
// are the caller's ThreadTeam, which oneDNN's loops run on too.
void RunShares(int threads, int64_t count,
               absl::FunctionRef<void(int, int64_t, int64_t)> share);

// body(i) for each i of [0, count), by the threads' shares in order.
template <typename Body>
void RunInTeam(int threads, int64_t count, const Body& body) {
  RunShares(threads, count, [&body](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace partita

#endif  // PARTITA_KERNELS_TEAM_TEAM_H_
