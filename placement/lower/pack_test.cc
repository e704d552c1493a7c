// Tests of packing.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace partita {
namespace {

// A buffer of one interval: its bytes and its live range.
struct Box {
  int64_t bytes;
  int first;
  int last;
};

PackProblem ProblemOf(const std::vector<Box>& boxes) {
  PackProblem problem{.num_buffers = static_cast<int>(boxes.size())};
  for (PackBufferId buffer : problem.buffers()) {
    const Box& box = boxes[buffer.index];
    const PackIntervalId added = problem.intervals.Add({.buffer = buffer,
                                                        .begin = 0,
                                                        .end = box.bytes,
                                                        .first = box.first,
                                                        .last = box.last});
    for (PackIntervalId other : IdRange<PackIntervalId>(added.index)) {
      const PackInterval& interval = problem.intervals[other];
      if (box.first > interval.last || interval.first > box.last) continue;
      problem.intervals[added].conflicts.push_back(other);
      problem.intervals[other].conflicts.push_back(added);
    }
  }
  return problem;
}

// Expects that no two conflicting intervals overlap.
void ExpectApart(const PackProblem& problem, const Packing& packing) {
  for (const PackInterval& a : problem.intervals) {
    for (PackIntervalId other : a.conflicts) {
      const PackInterval& b = problem.intervals[other];
      if (a.buffer == b.buffer) continue;
      const int64_t x = packing.offsets[a.buffer];
      const int64_t y = packing.offsets[b.buffer];
      EXPECT_TRUE(x + a.end <= y + b.begin || y + b.end <= x + a.begin);
      EXPECT_EQ(x % problem.alignment, 0);
    }
  }
}

TEST(Pack, BoxesThatAreNeverLiveTogetherShareBytes) {
  const PackProblem problem = ProblemOf({{128, 0, 1}, {64, 2, 3}, {100, 4, 4}});
  const Packing packing = Pack(problem, 0, 1000);
  EXPECT_EQ(packing.bytes, 128);
  EXPECT_EQ(packing.offsets.size(), 3u);
  for (int64_t offset : packing.offsets) EXPECT_EQ(offset, 0);
}

TEST(Pack, FindsThePerfectPackingOfASmallPuzzle) {
  // First fit by size alone leaves a gap here.
  const PackProblem problem = ProblemOf({{128, 0, 2},
                                         {64, 0, 1},
                                         {192, 3, 5},
                                         {64, 2, 4},
                                         {128, 5, 6},
                                         {64, 6, 7}});
  const Packing packing = Pack(problem, 320, 100'000);
  ExpectApart(problem, packing);
  EXPECT_EQ(packing.bytes, 320);
}

TEST(Pack, ADeadPartOfABodyMayBeUsedByOthers) {
  // Half of buffer 0 is dead early; buffer 1 fits into it.
  PackProblem problem{.num_buffers = 2};
  const PackBufferId large(0), small(1);
  problem.intervals.Add({large, 0, 64, 0, 1, {}});
  problem.intervals.Add({large, 64, 128, 0, 9, {PackIntervalId(2)}});
  problem.intervals.Add({small, 0, 64, 5, 9, {PackIntervalId(1)}});
  const Packing packing = Pack(problem, 0, 1000);
  EXPECT_EQ(packing.bytes, 128);
}

TEST(Pack, RandomBoxesStayApart) {
  uint64_t state = 3;
  auto next = [&](int bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state >> 33) % static_cast<uint64_t>(bound));
  };
  for (int round = 0; round < 50; ++round) {
    std::vector<Box> boxes;
    for (int i = 0; i < 40; ++i) {
      const int first = next(60);
      boxes.push_back({1 + next(900), first, first + next(12)});
    }
    const PackProblem problem = ProblemOf(boxes);
    ExpectApart(problem, Pack(problem, 0, 20'000));
  }
}

TEST(Pack, OfNoBodiesIsEmpty) { EXPECT_EQ(Pack({}, 0, 10).bytes, 0); }

}  // namespace
}  // namespace partita
