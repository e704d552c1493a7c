// Parallel loops.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_THREAD_POOL_PARALLEL_FOR_H_
#define PARTITA_KERNELS_THREAD_POOL_PARALLEL_FOR_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace partita {

// Calls body(thread, begin, end) for consecutive ranges of [0, count), as equal
// as possible, each on a thread of its own, numbered from 0; with one thread,
// once on the caller's. Returns when all are done. The threads are the caller's
// ThreadPool, which oneDNN's loops use too.
void ParallelForRanges(int threads, int64_t count,
                       absl::FunctionRef<void(int, int64_t, int64_t)> body);

// Calls body(i) for each i of [0, count): each thread has a range, in order.
template <typename Body>
void ParallelFor(int threads, int64_t count, const Body& body) {
  ParallelForRanges(threads, count, [&body](int, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

}  // namespace partita

#endif  // PARTITA_KERNELS_THREAD_POOL_PARALLEL_FOR_H_
