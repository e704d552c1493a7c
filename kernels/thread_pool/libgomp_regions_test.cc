// Parallel loops while libgomp's own threads exist.
// SPDX-License-Identifier: Apache-2.0

#include <omp.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/thread_pool/openmp_calls.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

using Ids = std::vector<std::thread::id>;

TEST(LibgompRegions, OutsideOfAScopeTheyAreLibgomps) {
  Ids pool(2), region(2);
  ParallelForRanges(2, 2, [&](int thread, int64_t, int64_t) {
    pool[thread] = std::this_thread::get_id();
  });
  std::atomic<int> before{0}, after{0}, sized{0};
#pragma omp parallel num_threads(2)
  {
    region[omp_get_thread_num()] = std::this_thread::get_id();
    sized += omp_get_num_threads() == 2;
    ++before;
#pragma omp barrier
    after += before == 2;
  }
  EXPECT_EQ(sized, 2);
  EXPECT_EQ(after, 2);
  EXPECT_NE(pool[0], pool[1]);
  EXPECT_NE(region[0], region[1]);
  EXPECT_NE(std::set(region.begin(), region.end()),
            std::set(pool.begin(), pool.end()));
}

TEST(LibgompRegions, InThemParallelForHasOneThread) {
  std::atomic<int> right{0};
#pragma omp parallel num_threads(3)
  {
    const OwnThreadsScope scope;
    Ids ids;
    ParallelForRanges(2, 2, [&](int, int64_t begin, int64_t end) {
      if (begin == 0 && end == 2) ids.push_back(std::this_thread::get_id());
    });
    right += ids == Ids{std::this_thread::get_id()};
  }
  EXPECT_EQ(right, 3);
}

}  // namespace
}  // namespace partita
