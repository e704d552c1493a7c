// Thread pools of all sizes, OpenMP's functions on them, and patience.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/thread_pool/parallel_for.h"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/thread_pool/openmp_calls.h"
#include "kernels/thread_pool/patience.h"
#include "kernels/thread_pool/thread_pool.h"

namespace partita {
namespace {

using std::chrono::milliseconds;

// How often each index below `count` is in a range.
std::vector<int> TimesTaken(int threads, int64_t count) {
  std::vector<std::atomic<int>> taken(count);
  ParallelFor(threads, count, [&](int64_t i) { ++taken[i]; });
  return {taken.begin(), taken.end()};
}

TEST(ParallelFor, EveryIndexOnceAfterRunsOfOtherSizes) {
  for (const int threads : {1, 2, 5, 3, 8, 2, 1, 4}) {
    for (const int64_t count : {0, 1, 3, 100}) {
      EXPECT_EQ(TimesTaken(threads, count), std::vector<int>(count, 1));
    }
  }
}

TEST(ParallelFor, ManyShortRuns) {
  int64_t sum = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> parts(3);
    ParallelForRanges(3, 30, [&](int thread, int64_t begin, int64_t end) {
      parts[thread] = end - begin;
    });
    for (int64_t part : parts) sum += part;
  }
  EXPECT_EQ(sum, 200 * 30);
}

TEST(ParallelFor, ANestedRunHasOneThread) {
  std::vector<int> inner(4);
  ParallelForRanges(4, 4, [&](int thread, int64_t, int64_t) {
    const std::thread::id caller = std::this_thread::get_id();
    ParallelForRanges(3, 9, [&](int number, int64_t begin, int64_t end) {
      const bool all = number == 0 && begin == 0 && end == 9;
      if (all && std::this_thread::get_id() == caller) ++inner[thread];
    });
  });
  EXPECT_EQ(inner, std::vector<int>(4, 1));
}

TEST(ParallelFor, EachCallerHasItsOwnThreads) {
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        right += TimesTaken(3, 7) == std::vector<int>(7, 1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(right, 60);
}

struct AtEnd {
  ~AtEnd() { taken = TimesTaken(3, 7); }
  std::vector<int>& taken;
};

// As in a static object's destructor, on the main thread.
TEST(ParallelFor, RunsWhileTheThreadEnds) {
  std::vector<int> taken;
  std::thread([&] {
    thread_local const AtEnd made_before_the_team{taken};
    TimesTaken(3, 7);
  }).join();
  EXPECT_EQ(taken, std::vector<int>(7, 1));
}

TEST(ParallelForDeathTest, AnExceptionEndsTheProcessOnAnyThread) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const int thrower : {0, 1}) {
    EXPECT_DEATH(ParallelForRanges(2, 2,
                                   [&](int thread, int64_t, int64_t) {
                                     if (thread != thrower) return;
                                     throw std::runtime_error("of a range");
                                   }),
                 "of a range");
  }
}

TEST(ParallelFor, AChildProcessHasItsOwnThreads) {
  ASSERT_EQ(TimesTaken(3, 7), std::vector<int>(7, 1));
  const pid_t child = fork();
  if (child == 0) {
    _exit(TimesTaken(3, 7) == std::vector<int>(7, 1) ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(TimesTaken(3, 7), std::vector<int>(7, 1));
}

// The size of a nested region. In a function of its own, since gcc writes
// variables that both regions share once more after it, from all threads at
// once.
int SizeOfNestedRegion() {
  int size = 0;
#pragma omp parallel num_threads(2)
  if (omp_in_parallel() && omp_get_thread_num() == 0) {
    size = omp_get_num_threads();
  }
  return size;
}

// What OpenMP's functions return in a region of `threads`, by thread.
struct Region {
  std::vector<std::thread::id> ids;
  std::vector<int> sizes, nested;
  int after_barrier = 0;  // threads that saw all others before it
};
Region RunRegion(int threads) {
  Region region;
  region.ids.resize(threads);
  region.sizes.resize(threads);
  region.nested.resize(threads);
  std::atomic<int> before{0}, after{0};
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    region.ids[thread] = std::this_thread::get_id();
    region.sizes[thread] = omp_get_num_threads();
    ++before;
#pragma omp barrier
    if (before == threads) ++after;
    region.nested[thread] = SizeOfNestedRegion();
  }
  region.after_barrier = after;
  return region;
}

std::set<std::thread::id> IdsOfPool(int threads) {
  std::vector<std::thread::id> ids(threads);
  ParallelForRanges(threads, threads, [&](int thread, int64_t, int64_t) {
    ids[thread] = std::this_thread::get_id();
  });
  return {ids.begin(), ids.end()};
}

TEST(OpenMp, RegionsInAScopeRunOnOurThreads) {
  const std::set<std::thread::id> pool = IdsOfPool(4);
  ASSERT_EQ(pool.size(), 4u);
  for (int round = 0; round < 20; ++round) {
    const OwnThreadsScope scope;
    const Region region = RunRegion(4);
    EXPECT_EQ(std::set(region.ids.begin(), region.ids.end()), pool);
    EXPECT_EQ(region.sizes, std::vector<int>(4, 4));
    EXPECT_EQ(region.nested, std::vector<int>(4, 1));
    EXPECT_EQ(region.after_barrier, 4);
    EXPECT_FALSE(omp_in_parallel());
    EXPECT_EQ(omp_get_num_threads(), 1);
  }
}

TEST(OpenMp, MostThreadsAreTheCallers) {
  const int most = omp_get_max_threads();
  omp_set_num_threads(3);
  {
    const OwnThreadsScope scope;
    std::atomic<int> threads{0}, same{0};
#pragma omp parallel
    {
      ++threads;
      same += omp_get_max_threads() == 3;
    }
    EXPECT_EQ(threads, 3);
    EXPECT_EQ(same, 3);
  }
  omp_set_num_threads(most);
}

// How long patience stays short after losses of this length, this many times,
// at this interval.
milliseconds Short(milliseconds lost, int times, milliseconds every) {
  Patience patience(milliseconds(1));
  auto now = Patience::Clock::now();
  for (int i = 0; i < times; ++i) {
    now += every;
    patience.Lose(lost, now);
  }
  milliseconds time{0};
  while (patience.Of(now + time) == std::chrono::microseconds(5)) time++;
  EXPECT_EQ(patience.Of(now + time), milliseconds(1));
  return time;
}

TEST(Patience, IsThereUntilCoresAreLost) {
  const Patience patience(milliseconds(1));
  EXPECT_EQ(patience.Of(Patience::Clock::now()), milliseconds(1));
}

TEST(Patience, ALostSliceIsForgiven) {
  EXPECT_EQ(Short(milliseconds(3), 1, milliseconds(0)), milliseconds(0));
  EXPECT_EQ(Short(milliseconds(500), 3, milliseconds(0)), milliseconds(0));
}

TEST(Patience, SlicesLostInSequenceEndItForATime) {
  EXPECT_EQ(Short(milliseconds(4), 6, milliseconds(8)), milliseconds(344));
  EXPECT_EQ(Short(milliseconds(4), 1000, milliseconds(8)),
            milliseconds(1600 - 384));
}

TEST(Patience, SmallLossesCountTogether) {
  EXPECT_EQ(Short(milliseconds(1), 100, milliseconds(32)), milliseconds(0));
  EXPECT_GT(Short(milliseconds(1), 100, milliseconds(16)), milliseconds(500));
}

// Lowest-priority work, which takes a hundredth of a core.
TEST(Patience, WhatTakesLittleTakesNone) {
  EXPECT_EQ(Short(milliseconds(4), 1000, milliseconds(400)), milliseconds(0));
}

TEST(Patience, WhoHasNoneKeepsNone) {
  Patience patience(milliseconds(0));
  const auto now = Patience::Clock::now();
  EXPECT_EQ(patience.Of(now), milliseconds(0));
  patience.Lose(milliseconds(3), now);
  EXPECT_EQ(patience.Of(now), milliseconds(0));
}

}  // namespace
}  // namespace partita

// OMP_THREAD_LIMIT must be large enough; libgomp reads it before main.
int main(int argc, char** argv) {
  if (std::getenv("OMP_THREAD_LIMIT") != nullptr) {
    unsetenv("OMP_THREAD_LIMIT");
    execv("/proc/self/exe", argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
