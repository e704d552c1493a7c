// Tests of packing.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/pack.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace partita {
namespace {

// A body of one item: its bytes and its live range.
struct Box {
  int64_t bytes;
  int first;
  int last;
};

PackProblem ProblemOf(const std::vector<Box>& boxes) {
  PackProblem problem{.num_bodies = static_cast<int>(boxes.size())};
  for (PackBodyId body : problem.bodies()) {
    const Box& box = boxes[body.index];
    const PackItemId added = problem.items.Add({.body = body,
                                                .begin = 0,
                                                .end = box.bytes,
                                                .first = box.first,
                                                .last = box.last});
    for (PackItemId other : IdRange<PackItemId>(added.index)) {
      const PackItem& item = problem.items[other];
      if (box.first > item.last || item.first > box.last) continue;
      problem.items[added].conflicts.push_back(other);
      problem.items[other].conflicts.push_back(added);
    }
  }
  return problem;
}

// Expects that no two conflicting items overlap.
void ExpectApart(const PackProblem& problem, const Packing& packing) {
  for (const PackItem& a : problem.items) {
    for (PackItemId other : a.conflicts) {
      const PackItem& b = problem.items[other];
      if (a.body == b.body) continue;
      const int64_t x = packing.addresses[a.body];
      const int64_t y = packing.addresses[b.body];
      EXPECT_TRUE(x + a.end <= y + b.begin || y + b.end <= x + a.begin);
      EXPECT_EQ(x % problem.alignment, 0);
    }
  }
}

TEST(Pack, BoxesThatAreNeverLiveTogetherShareBytes) {
  const PackProblem problem = ProblemOf({{128, 0, 1}, {64, 2, 3}, {100, 4, 4}});
  const Packing packing = Pack(problem, 0, 1000);
  EXPECT_EQ(packing.bytes, 128);
  EXPECT_EQ(packing.addresses.size(), 3u);
  for (int64_t address : packing.addresses) EXPECT_EQ(address, 0);
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
  // Half of body 0 is dead early; body 1 fits into it.
  PackProblem problem{.num_bodies = 2};
  const PackBodyId large(0), small(1);
  problem.items.Add({large, 0, 64, 0, 1, {}});
  problem.items.Add({large, 64, 128, 0, 9, {PackItemId(2)}});
  problem.items.Add({small, 0, 64, 5, 9, {PackItemId(1)}});
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
